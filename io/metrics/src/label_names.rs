//! [`LabelNames`]: the values of labels for the indices of a plan.

use std::collections::BTreeSet;

use wavetank_plan::{Key, Plan};

use crate::snapshot::{Labels, push};

/// Longest value of a label, in characters. Names of steps may hold a whole URL.
const LENGTH_MAX: usize = 120;
/// Label of what shares a series because there are too many.
pub(crate) const OTHER: &str = "(other)";

/// Names of phases, scenarios, steps and targets. Names that occur twice get a number, because two
/// series must not have the same labels.
#[derive(Debug)]
pub(crate) struct LabelNames {
    run: String,
    phases: Vec<String>,
    warmup: Vec<bool>,
    scenarios: Vec<String>,
    steps: Vec<Vec<String>>,
    targets: Vec<String>,
}

impl LabelNames {
    pub(crate) fn new(plan: &Plan, run: &str) -> Self {
        let steps = |scenario: &wavetank_plan::Scenario| unique(scenario.steps.iter().map(|step| &step.name));
        Self {
            run: run.to_owned(),
            phases: unique(plan.phases.iter().map(|phase| &phase.name)),
            warmup: plan.phases.iter().map(|phase| phase.warmup).collect(),
            scenarios: unique(plan.scenarios.iter().map(|scenario| &scenario.name)),
            steps: plan.scenarios.iter().map(steps).collect(),
            targets: unique(plan.targets.iter().map(|target| &target.name)),
        }
    }

    /// The label of the run alone.
    pub(crate) fn run(&self) -> Labels {
        vec![("run", self.run.clone())]
    }

    /// Whether the phase is warm-up.
    pub(crate) fn is_warmup(&self, phase: u16) -> bool {
        self.warmup.get(usize::from(phase)).copied().unwrap_or_default()
    }

    /// The labels of a step.
    pub(crate) fn step(&self, key: Key) -> Labels {
        let mut labels = self.scenario(key.phase, key.scenario);
        let steps = self.steps.get(usize::from(key.scenario));
        push(&mut labels, "step", steps.map_or("", |steps| name(steps, key.step)));
        labels
    }

    /// The labels of a scenario.
    pub(crate) fn scenario(&self, phase: u16, scenario: u16) -> Labels {
        let mut labels = self.phase(phase);
        push(&mut labels, "scenario", name(&self.scenarios, scenario));
        labels
    }

    /// The labels of a phase.
    pub(crate) fn phase(&self, phase: u16) -> Labels {
        let mut labels = self.run();
        push(&mut labels, "phase", name(&self.phases, phase));
        labels
    }

    /// The labels of a target.
    pub(crate) fn target(&self, phase: u16, target: u16) -> Labels {
        let mut labels = self.phase(phase);
        push(&mut labels, "target", name(&self.targets, target));
        labels
    }

    /// The labels of everything beyond a limit. Warm-up stays apart, because totals exclude it.
    pub(crate) fn other(&self, warmup: bool) -> Labels {
        let mut labels = self.run();
        push(&mut labels, "phase", if warmup { "(other warm-up)" } else { OTHER });
        push(&mut labels, "scenario", OTHER);
        labels
    }
}

fn name(names: &[String], index: u16) -> &str {
    names.get(usize::from(index)).map_or("", String::as_str)
}

/// Shortens names and makes them distinct.
fn unique<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let distinct = names.map(|name| {
        let short: String = name.chars().take(LENGTH_MAX).collect();
        let mut candidate = short.clone();
        let mut number = 2_u32;
        while !taken.insert(candidate.clone()) {
            candidate = format!("{short} #{number}");
            number += 1;
        }
        candidate
    });
    distinct.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_distinct_and_short() {
        let long = "x".repeat(300);
        let names = ["GET /", "GET /", "", "GET / #2", &long, ""].map(str::to_owned);
        let short = "x".repeat(LENGTH_MAX);
        assert_eq!(unique(names.iter()), ["GET /", "GET / #2", "", "GET / #2 #2", &short, " #2"]);
    }
}
