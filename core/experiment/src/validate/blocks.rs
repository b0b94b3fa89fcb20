//! Checks of blocks: each used block exists, each block is used, and no block uses itself.

use std::collections::{BTreeMap, BTreeSet};
use wavetank_units::Code;

use wavetank_grammar::{Diagnostic, Diagnostics, Spanned};

use super::messages::unknown;
use crate::Scenario;
use crate::model::{Experiment, Step, Verb};

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    let known: BTreeSet<&str> = experiment.blocks.iter().map(|block| block.name.value.as_str()).collect();
    let outside: Vec<&Spanned<String>> =
        experiment.step_lists().into_iter().flat_map(|(steps, _)| direct_uses(steps)).collect();
    let inside: BTreeMap<&str, Vec<&Spanned<String>>> = experiment
        .blocks
        .iter()
        .map(|block| (block.name.value.as_str(), direct_uses(&block.steps)))
        .collect();
    for name in outside.iter().chain(inside.values().flatten()) {
        if out.omitted() == 0 && !known.contains(name.value.as_str()) {
            out.push(unknown(Code::BlockUnknown, "block", &name.value, name.place, known.iter().copied()));
        }
    }
    loops(&inside, out);
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut waiting: Vec<&str> = outside.iter().map(|name| name.value.as_str()).collect();
    while let Some(name) = waiting.pop() {
        if reached.insert(name) {
            waiting.extend(inside.get(name).into_iter().flatten().map(|name| name.value.as_str()));
        }
    }
    for block in experiment.blocks.iter().filter(|block| !reached.contains(block.name.value.as_str())) {
        let message = format!("nothing uses the block `{}`", block.name.value);
        let hint = format!("- use: {}", block.name.value);
        out.push(Diagnostic::warning(Code::BlockUnused, block.name.place, message, hint));
    }
}

/// Repeatedly removes the blocks that use none of the remaining ones. A block that is left at the
/// end uses itself, or leads to one that does.
fn loops(inside: &BTreeMap<&str, Vec<&Spanned<String>>>, out: &mut Diagnostics) {
    let mut left: BTreeMap<&str, BTreeSet<&str>> = inside
        .iter()
        .map(|(name, uses)| {
            (
                *name,
                uses.iter().map(|own| own.value.as_str()).filter(|own| inside.contains_key(own)).collect(),
            )
        })
        .collect();
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, uses) in &left {
        for used in uses {
            users.entry(used).or_default().push(name);
        }
    }
    let mut done: Vec<&str> =
        left.iter().filter(|(_, uses)| uses.is_empty()).map(|(name, _)| *name).collect();
    while let Some(name) = done.pop() {
        left.remove(name);
        for user in users.get(name).into_iter().flatten() {
            if let Some(uses) = left.get_mut(user) {
                uses.remove(name);
                if uses.is_empty() {
                    done.push(user);
                }
            }
        }
    }
    for name in left.keys() {
        let used = inside[name].iter().find(|used| left.contains_key(used.value.as_str()));
        if let Some(used) = used {
            let message = format!("the block `{name}` uses itself, or a block that does");
            out.push(Diagnostic::error(
                Code::BlockLoop,
                used.place,
                message,
                "repeat: N or while: for loops",
            ));
        }
    }
}

/// Returns the `use` steps in a list and in the steps inside it.
fn direct_uses(steps: &[Step]) -> Vec<&Spanned<String>> {
    let mut waiting: Vec<&Step> = steps.iter().collect();
    let mut all = Vec::new();
    while let Some(step) = waiting.pop() {
        if let Verb::Use(name) = &step.verb {
            all.push(name);
        }
        waiting.extend(step.child_lists().into_iter().flatten());
    }
    all
}

impl Experiment {
    /// Returns all lists of steps outside blocks with their scenario; `None` for those of the run.
    pub(crate) fn step_lists(&self) -> Vec<(&[Step], Option<&Scenario>)> {
        let mut all: Vec<(&[Step], Option<&Scenario>)> = vec![(&self.before, None), (&self.after, None)];
        for scenario in &self.scenarios {
            let lists = [&scenario.before, &scenario.steps, &scenario.after];
            all.extend(lists.map(|steps| (steps.as_slice(), Some(scenario))));
        }
        all
    }
}
