//! Lowers steps to actions. Blocks are inlined, and lists of fixed items are expanded.

use std::collections::BTreeMap;

use wavetank_grammar::{Diagnostic, Spanned};
use wavetank_plan::{self as plan, Action, Escape, Rendezvous};
use wavetank_units::{Code, Nanos};

use super::scope::ScenarioScope;
use super::shared::{add, index, too_many};
use super::target::Targets;
use super::template::set_value;
use super::{LowerError, request};
use crate::model::{EndScope, ForEachItems, Step, Think, Verb};

/// Maximum number of actions of one scenario, with blocks and fixed lists expanded.
const ACTIONS_MAX: usize = 500_000;
/// Maximum wait of a rendezvous if the file gives none.
const RENDEZVOUS_WAIT: Nanos = Nanos::from_secs(60);

/// Lowers a scenario's steps.
pub(super) struct StepLowering<'e, 't> {
    pub(super) names: ScenarioScope<'e>,
    targets: &'t mut Targets<'e>,
    /// The scenario's requests so far.
    pub(super) steps: Vec<plan::Step>,
    pub(super) groups: Vec<String>,
    /// Requests by their position in the file: a block that is used twice sends the same request
    /// twice.
    known: BTreeMap<usize, u16>,
    actions: usize,
}

impl<'e, 't> StepLowering<'e, 't> {
    pub(super) fn new(names: ScenarioScope<'e>, targets: &'t mut Targets<'e>) -> Self {
        Self { names, targets, steps: Vec::new(), groups: Vec::new(), known: BTreeMap::new(), actions: 0 }
    }

    /// Lowers the steps of a session. With `pause` it thinks between its requests, but not after
    /// the last.
    pub(super) fn journey(
        &mut self,
        steps: &'e [Step],
        pause: Option<plan::Think>,
    ) -> Result<Vec<Action>, LowerError> {
        let mut all = self.list(steps, pause)?;
        if pause.is_some()
            && let [.., Action::Request(_), Action::Think(_)] = all.as_slice()
            && matches!(steps.last().map(|step| &step.verb), Some(Verb::Request(_)))
        {
            all.pop();
        }
        Ok(all)
    }

    /// Lowers a list of steps, with a pause after each request that has no think step behind it.
    pub(super) fn list(
        &mut self,
        steps: &'e [Step],
        pause: Option<plan::Think>,
    ) -> Result<Vec<Action>, LowerError> {
        let mut all = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            self.one(step, pause, &mut all)?;
            let waits = steps
                .get(at + 1)
                .is_some_and(|next| matches!(next.verb, Verb::Think(_) | Verb::Rendezvous { .. }));
            if let (Some(pause), Verb::Request(_), false) = (pause, &step.verb, waits) {
                all.push(Action::Think(pause));
            }
        }
        Ok(all)
    }

    fn one(
        &mut self,
        step: &'e Step,
        pause: Option<plan::Think>,
        all: &mut Vec<Action>,
    ) -> Result<(), LowerError> {
        self.actions += 1;
        if self.actions > ACTIONS_MAX {
            return Err(too_many("steps in one scenario"));
        }
        let action = match &step.verb {
            Verb::Request(own) => Action::Request(self.request(own, step)?),
            Verb::Think(own) => Action::Think(think(*own)),
            Verb::Group(name, steps) => {
                add(&mut self.groups, &name.value);
                let group = index(&self.groups, &name.value).ok_or_else(|| too_many("groups"))?;
                Action::Group(group, self.list(steps, pause)?)
            }
            Verb::Repeat(times, steps) => Action::Repeat(times.value, self.list(steps, pause)?),
            Verb::While { check, at_most, steps } => Action::While {
                check: Box::new(self.names.check(check, None)?),
                at_most: *at_most,
                steps: self.list(steps, pause)?,
            },
            Verb::If { check, then, otherwise } => Action::If {
                check: Box::new(self.names.check(check, None)?),
                then: self.list(then, pause)?,
                otherwise: self.list(otherwise, pause)?,
            },
            Verb::Each { list, name, steps } => return self.each(list, &name.value, steps, pause, all),
            Verb::Choose(ways) => {
                let ways = ways
                    .iter()
                    .map(|way| Ok(plan::Choice { weight: way.weight, steps: self.list(&way.steps, pause)? }));
                Action::Choose(ways.collect::<Result<_, LowerError>>()?)
            }
            Verb::Use(block) => {
                all.extend(self.block(block, pause)?);
                return Ok(());
            }
            Verb::Set(values) => {
                for (name, value) in values {
                    all.push(Action::Set(
                        self.slot(&name.value)?,
                        set_value(&self.names, &name.value, value)?,
                    ));
                }
                return Ok(());
            }
            Verb::Log(line) => {
                Action::Log(self.names.template(&self.names.redact_template(line), Escape::Plain)?)
            }
            Verb::End(EndScope::Session) => Action::EndSession,
            Verb::End(EndScope::Run) => Action::EndRun,
            Verb::Rendezvous { name, wait, of } => Action::Rendezvous(Rendezvous {
                place: index(&self.names.shared.rendezvous, &name.value)
                    .ok_or_else(|| too_many("rendezvous"))?,
                wait: wait.as_ref().map_or(RENDEZVOUS_WAIT, |wait| wait.value),
                of: *of,
            }),
        };
        all.push(action);
        Ok(())
    }

    /// Lowers an `each`. Fixed items are expanded, each with its steps.
    fn each(
        &mut self,
        list: &'e ForEachItems,
        name: &str,
        steps: &'e [Step],
        pause: Option<plan::Think>,
        all: &mut Vec<Action>,
    ) -> Result<(), LowerError> {
        let slot = self.slot(name)?;
        match list {
            ForEachItems::Items(items) => {
                for item in items {
                    all.push(Action::Set(slot, set_value(&self.names, name, item)?));
                    all.extend(self.list(steps, pause)?);
                }
            }
            ForEachItems::Variable(list) => {
                let list = self.list_slot(list)?;
                all.push(Action::Each { list, name: slot, steps: self.list(steps, pause)? });
            }
        }
        Ok(())
    }

    /// Lowers the steps of a block at the place where it is used.
    fn block(
        &mut self,
        name: &Spanned<String>,
        pause: Option<plan::Think>,
    ) -> Result<Vec<Action>, LowerError> {
        let blocks = &self.names.shared.experiment.blocks;
        let found = blocks.iter().find(|own| own.name.value == name.value).ok_or_else(|| {
            let message = format!("no block \"{}\"", name.value);
            Diagnostic::error(Code::BlockUnknown, name.place, message, "blocks: {NAME: [STEP…]}")
        })?;
        self.list(&found.steps, pause)
    }

    fn slot(&self, name: &str) -> Result<u16, LowerError> {
        self.names.slot(name).ok_or_else(|| too_many("variables"))
    }

    fn list_slot(&self, list: &Spanned<String>) -> Result<u16, LowerError> {
        self.names.slot(&list.value).ok_or_else(|| {
            let message = format!("nothing sets the list `{}` in this journey", list.value);
            Diagnostic::error(Code::ListUnset, list.place, message, "extract: {NAME: all json $.items[*].id}")
                .into()
        })
    }

    fn request(&mut self, own: &'e crate::model::Request, step: &Step) -> Result<u16, LowerError> {
        let key = std::ptr::from_ref(own).addr();
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let number = u16::try_from(self.steps.len()).ok().filter(|number| *number < u16::MAX);
        let number = number.ok_or_else(|| too_many("requests in one scenario"))?;
        let lowered = request::step(&self.names, self.targets, own, step.place, self.steps.len())?;
        self.steps.push(lowered);
        self.known.insert(key, number);
        Ok(number)
    }
}

pub(super) const fn think(think: Think) -> plan::Think {
    match think {
        Think::Fixed(length) => plan::Think::Fixed(length),
        Think::Even(from, to) => plan::Think::Even { from, to },
        Think::Exponential(mean) => plan::Think::Exponential { mean },
        Think::Normal { mean, deviation } => plan::Think::Normal { mean, deviation },
        Think::Lognormal { median, p95 } => plan::Think::Lognormal { median, p95 },
    }
}
