//! Visits everything that actions refer to: which values of a session they need, and which secrets
//! they send.

use super::{Action, AuthPlan, Check, CheckSubject, Expr, Operand, Template, Test};
use crate::{Plan, Scenario, Step};

impl Scenario {
    /// Calls `visit` for every expression in `actions` of this scenario and in the requests they
    /// send, including nested expressions.
    pub fn each_expr<'a>(&'a self, actions: &'a [Action], visit: &mut dyn FnMut(&'a Expr)) {
        for action in actions {
            match action {
                Action::Request(step) => {
                    self.steps.get(usize::from(*step)).into_iter().for_each(|step| of_step(step, visit));
                }
                Action::Set(_, text) | Action::Log(text) => of_template(text, visit),
                Action::While { check, .. } | Action::If { check, .. } => of_check(check, visit),
                Action::Group(..)
                | Action::Repeat(..)
                | Action::Each { .. }
                | Action::Choose(_)
                | Action::Think(_)
                | Action::EndSession
                | Action::EndRun
                | Action::Rendezvous(_) => {}
            }
            action.inside().for_each(|steps| self.each_expr(steps, visit));
        }
    }
}

impl Plan {
    /// Returns every secret that sessions send, each once. They must be removed from all text that
    /// is written.
    pub fn secrets(&self) -> Vec<String> {
        let mut found = Vec::new();
        let around = [&self.around.before, &self.around.after].into_iter().flatten();
        for scenario in self.scenarios.iter().chain(around.map(|scenario| &**scenario)) {
            let mut visit = |expr: &Expr| {
                if let Expr::Secret { value, .. } = expr {
                    found.push(value.reveal().to_owned());
                }
            };
            for list in [&scenario.before, &scenario.journey, &scenario.after] {
                scenario.each_expr(list, &mut visit);
            }
        }
        found.retain(|secret| !secret.is_empty());
        // The longest first: one may be a part of another.
        found.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        found.dedup();
        found
    }
}

fn of_step<'a>(step: &'a Step, visit: &mut dyn FnMut(&'a Expr)) {
    of_template(&step.request.path, visit);
    step.request.headers.iter().for_each(|(_, value)| of_template(value, visit));
    of_template(&step.request.body, visit);
    match &step.auth {
        Some(AuthPlan::Basic(user, word) | AuthPlan::Digest(user, word)) => {
            of_template(user, visit);
            of_template(word, visit);
        }
        Some(AuthPlan::Bearer(token)) => of_template(token, visit),
        None => {}
    }
    step.checks.iter().for_each(|check| of_check(check, visit));
    step.counts.iter().for_each(|(_, check)| of_check(check, visit));
}

fn of_check<'a>(check: &'a Check, visit: &mut dyn FnMut(&'a Expr)) {
    if let CheckSubject::Value(subject) = &check.subject {
        of_template(subject, visit);
    }
    match &check.test {
        Test::Compare(_, with) => {
            for operand in with {
                if let Operand::Text(text) = operand {
                    of_template(text, visit);
                }
            }
        }
        Test::Contains(texts) => texts.iter().for_each(|text| of_template(text, visit)),
        Test::Matches(_) => {}
    }
}

fn of_template<'a>(template: &'a Template, visit: &mut dyn FnMut(&'a Expr)) {
    template.holes().for_each(|hole| of_expr(&hole.value, visit));
}

fn of_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    match expr {
        Expr::Pick(all) => all.iter().for_each(|one| of_expr(one, visit)),
        Expr::Base64(inner) => of_expr(inner, visit),
        Expr::HmacSha256(key, inner) => {
            of_expr(key, visit);
            of_expr(inner, visit);
        }
        Expr::Joined(template) => of_template(template, visit),
        Expr::Text(_)
        | Expr::Variable(_)
        | Expr::Column { .. }
        | Expr::Count(_)
        | Expr::User
        | Expr::Session
        | Expr::Now
        | Expr::Seq
        | Expr::Uuid
        | Expr::Random(..)
        | Expr::Secret { .. } => {}
    }
}
