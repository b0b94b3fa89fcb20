//! [`PlanText`]: templates, checks and journeys as a reader of `plan.yaml` sees them.
//!
//! One way: what is read back judges and reports a run, and for that their texts are enough.

use wavetank_plan::{
    Action, AuthPlan, Check, CheckSubject, Expr, Extract, OnFailure, Operand, Quantity, RowChoice, Scenario,
    SharedPlan, Template, TemplatePart, Test, Think,
};
use wavetank_units::Number;

use super::exact_quantity::exact_duration;

/// The names behind the numbers in a scenario.
#[derive(Clone, Copy)]
pub(super) struct PlanText<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) shared: &'a SharedPlan,
}

impl PlanText<'_> {
    /// Shows a template with `${…}` for every hole and the rest as text. Bytes that are not text
    /// are shown by their length.
    pub(super) fn template(self, template: &Template) -> String {
        let shown = template.pieces.iter().map(|piece| match piece {
            TemplatePart::Fixed(bytes) => match std::str::from_utf8(bytes) {
                Ok(fixed) => fixed.to_owned(),
                Err(_) => format!("[{} bytes]", bytes.len()),
            },
            TemplatePart::Hole(hole) => format!("${{{}}}", self.expr(&hole.value)),
        });
        shown.collect()
    }

    fn expr(self, expr: &Expr) -> String {
        match expr {
            Expr::Text(text) => format!("'{text}'"),
            Expr::Variable(slot) => self.variable(*slot),
            Expr::Column { data, column } => {
                let data = self.shared.data.get(usize::from(*data));
                let name = data.map_or("?", |data| data.name.as_str());
                let column = data.and_then(|data| data.columns.get(usize::from(*column)));
                format!("{name}.{}", column.map_or("?", String::as_str))
            }
            Expr::Count(count) => format!("count.{}", name_in(&self.shared.counts, *count)),
            Expr::User => "user".to_owned(),
            Expr::Session => "session".to_owned(),
            Expr::Now => "now()".to_owned(),
            Expr::Seq => "seq()".to_owned(),
            Expr::Uuid => "uuid()".to_owned(),
            Expr::Random(low, high) => format!("random({low},{high})"),
            Expr::Pick(all) => {
                let all: Vec<_> = all.iter().map(|one| self.expr(one)).collect();
                format!("pick({})", all.join(","))
            }
            Expr::Base64(inner) => format!("base64({})", self.expr(inner)),
            Expr::HmacSha256(key, inner) => format!("hmac_sha256({},{})", self.expr(key), self.expr(inner)),
            Expr::Joined(template) => format!("'{}'", self.template(template)),
            Expr::Secret { name, .. } => format!("secret:{name}"),
        }
    }

    fn variable(self, slot: u16) -> String {
        name_in(&self.scenario.variables, slot)
    }

    /// `sku = json $.event1.sku`.
    pub(super) fn extract(self, extract: &Extract) -> String {
        let all = if extract.all { " (all)" } else { "" };
        format!("{} = {}{all}", self.variable(extract.variable), extract.from)
    }

    /// Shows a check as written.
    pub(super) fn check(self, check: &Check) -> String {
        let subject = match &check.subject {
            CheckSubject::Answer(from) => from.clone(),
            CheckSubject::Value(template) => self.template(template),
        };
        let test = match &check.test {
            Test::Compare(op, operands) => {
                let all: Vec<_> = operands.iter().map(|operand| self.operand(operand)).collect();
                format!("{} {}", op.sign(), all.join(" or "))
            }
            Test::Contains(texts) => {
                let all: Vec<_> = texts.iter().map(|text| self.template(text)).collect();
                format!("contains {}", all.join(" or "))
            }
            Test::Matches(expressions) => format!("matches {}", expressions.join(" or ")),
        };
        format!("{subject} {test}")
    }

    fn operand(self, operand: &Operand) -> String {
        let number = |value: Number, quantity: Quantity| match quantity {
            Quantity::Bare => value.to_string(),
            Quantity::Time => format!("{value}ns"),
            Quantity::Size => format!("{value}B"),
        };
        match operand {
            Operand::Number(value, quantity) => number(*value, *quantity),
            Operand::Range(low, high, quantity) => {
                format!("{} to {}", number(*low, *quantity), number(*high, *quantity))
            }
            Operand::Text(text) => self.template(text),
        }
    }

    /// `count.sold: status = 200`.
    pub(super) fn count(self, (count, check): &(u16, Check)) -> String {
        format!("{}: {}", name_in(&self.shared.counts, *count), self.check(check))
    }

    /// One line an action, those inside another indented by two spaces.
    pub(super) fn actions(self, actions: &[Action]) -> Vec<String> {
        let mut lines = Vec::new();
        self.lines(actions, 0, &mut lines);
        lines
    }

    fn lines(self, actions: &[Action], depth: usize, lines: &mut Vec<String>) {
        for action in actions {
            let mut line = |text: String| lines.push(format!("{:width$}{text}", "", width = 2 * depth));
            match action {
                Action::Request(step) => {
                    let step = self.scenario.steps.get(usize::from(*step));
                    line(step.map_or("?", |step| step.name.as_str()).to_owned());
                }
                Action::Think(think) => line(format!("think {}", think_text(think))),
                Action::Set(slot, value) => {
                    line(format!("set {} = {}", self.variable(*slot), self.template(value)));
                }
                Action::Log(text) => line(format!("log {}", self.template(text))),
                Action::EndSession => line("end session".to_owned()),
                Action::EndRun => line("end run".to_owned()),
                Action::Rendezvous(place) => {
                    let of = place.of.map_or_else(|| "all".to_owned(), |of| of.to_string());
                    let name = name_in(&self.shared.rendezvous, place.place);
                    line(format!("rendezvous {name} of {of}, wait {}", exact_duration(place.wait)));
                }
                Action::Group(group, steps) => {
                    line(format!("group {}", name_in(&self.scenario.groups, *group)));
                    self.lines(steps, depth + 1, lines);
                }
                Action::Repeat(times, steps) => {
                    line(format!("repeat {times}"));
                    self.lines(steps, depth + 1, lines);
                }
                Action::While { check, at_most, steps } => {
                    line(format!("while {}, at most {at_most}", self.check(check)));
                    self.lines(steps, depth + 1, lines);
                }
                Action::If { check, then, otherwise } => {
                    line(format!("if {}", self.check(check)));
                    self.lines(then, depth + 1, lines);
                    if !otherwise.is_empty() {
                        lines.push(format!("{:width$}else", "", width = 2 * depth));
                        self.lines(otherwise, depth + 1, lines);
                    }
                }
                Action::Each { list, name, steps } => {
                    line(format!("each {} as {}", self.variable(*list), self.variable(*name)));
                    self.lines(steps, depth + 1, lines);
                }
                Action::Choose(ways) => {
                    for way in ways {
                        lines.push(format!("{:width$}choose, weight {}", "", way.weight, width = 2 * depth));
                        self.lines(&way.steps, depth + 1, lines);
                    }
                }
            }
        }
    }
}

fn name_in(names: &[String], index: u16) -> String {
    names.get(usize::from(index)).cloned().unwrap_or_else(|| "?".to_owned())
}

fn think_text(think: &Think) -> String {
    match *think {
        Think::Fixed(length) => exact_duration(length),
        Think::Even { from, to } => format!("{} to {}", exact_duration(from), exact_duration(to)),
        Think::Exponential { mean } => format!("exponential {}", exact_duration(mean)),
        Think::Normal { mean, deviation } => {
            format!("normal {} +- {}", exact_duration(mean), exact_duration(deviation))
        }
        Think::Lognormal { median, p95 } => {
            format!("lognormal {} p95 {}", exact_duration(median), exact_duration(p95))
        }
    }
}

/// The kind alone: what it is made of may be secret.
pub(super) const fn auth_kind(auth: &AuthPlan) -> &'static str {
    match auth {
        AuthPlan::Basic(..) => "basic",
        AuthPlan::Bearer(_) => "bearer",
        AuthPlan::Digest(..) => "digest",
    }
}

/// All values of [`OnFailure`].
pub(super) const ON_FAILURES: [(&str, OnFailure); 3] = [
    ("continue", OnFailure::Continue),
    ("end_session", OnFailure::EndSession),
    ("end_run", OnFailure::EndRun),
];

/// All values of [`RowChoice`].
pub(super) const ROW_CHOICES: [(&str, RowChoice); 4] = [
    ("in_order", RowChoice::InOrder),
    ("random", RowChoice::Random),
    ("unique", RowChoice::Unique),
    ("per_user", RowChoice::PerUser),
];
