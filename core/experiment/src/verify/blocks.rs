//! Blocks: those that are used exist, none calls itself, none is idle.

use super::unknown;
use crate::model::{Step, Verb};
use crate::{At, Diagnostic, Diagnostics, Experiment};

pub(super) fn verify(experiment: &Experiment, out: &mut Diagnostics) {
    let mut used: Vec<&str> = Vec::new();
    for (steps, _) in experiment.step_lists() {
        for name in uses(experiment, steps) {
            used.push(&name.value);
        }
    }
    for block in &experiment.blocks {
        for name in direct_uses(&block.steps) {
            if !experiment.blocks.iter().any(|other| other.name.value == name.value) {
                continue;
            }
            if name.value == block.name.value || reaches(experiment, &name.value, &block.name.value) {
                let message = format!("the block `{}` uses itself", block.name.value);
                out.push(Diagnostic::error(
                    "block_loop",
                    name.place,
                    message,
                    "repeat: N or while: for loops",
                ));
            }
        }
        if !used.contains(&block.name.value.as_str()) {
            let message = format!("nothing uses the block `{}`", block.name.value);
            let hint = format!("- use: {}", block.name.value);
            out.push(Diagnostic::warning("block_unused", block.name.place, message, hint));
        }
    }
    let known = experiment.blocks.iter().map(|block| block.name.value.as_str());
    let inside = experiment.blocks.iter().flat_map(|block| direct_uses(&block.steps));
    let outside = experiment.step_lists().into_iter().flat_map(|(steps, _)| direct_uses(steps));
    for name in inside.chain(outside) {
        if !known.clone().any(|block| block == name.value) {
            out.push(unknown("block_unknown", "block", &name.value, name.place, known.clone()));
        }
    }
}

/// All uses, those inside blocks included.
fn uses<'e>(experiment: &'e Experiment, steps: &'e [Step]) -> Vec<&'e At<String>> {
    experiment.flattened(steps).into_iter().filter_map(used_by).collect()
}

/// Uses in the steps themselves and the steps inside them.
fn direct_uses(steps: &[Step]) -> Vec<&At<String>> {
    let mut waiting: Vec<&Step> = steps.iter().collect();
    let mut all = Vec::new();
    while let Some(step) = waiting.pop() {
        all.extend(used_by(step));
        waiting.extend(step.inner().into_iter().flatten());
    }
    all
}

const fn used_by(step: &Step) -> Option<&At<String>> {
    match &step.verb {
        Verb::Use(name) => Some(name),
        _ => None,
    }
}

fn reaches(experiment: &Experiment, from: &str, to: &str) -> bool {
    let block = experiment.blocks.iter().find(|block| block.name.value == from);
    block.is_some_and(|block| uses(experiment, &block.steps).iter().any(|name| name.value == to))
}

impl Experiment {
    /// All lists of steps outside blocks, with the scenario they belong to (`None`: the run's own).
    pub(crate) fn step_lists(&self) -> Vec<(&[Step], Option<&crate::Scenario>)> {
        let mut all: Vec<(&[Step], Option<&crate::Scenario>)> =
            vec![(&self.before, None), (&self.after, None)];
        for scenario in &self.scenarios {
            all.extend(
                [&scenario.before, &scenario.steps, &scenario.after]
                    .map(|steps| (steps.as_slice(), Some(scenario))),
            );
        }
        all
    }
}
