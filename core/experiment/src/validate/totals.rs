//! Number of sessions and requests of a file, where known before the run.

use std::collections::BTreeMap;

use wavetank_units::Nanos;

use crate::Scenario;
use crate::model::{Experiment, Phase, PhaseLoad, Sessions, StairHeight, Step, Verb};

/// Returns the sessions that a scenario starts in the phase called `only`, or in the whole run;
/// `None` if that depends on responses.
pub(super) fn sessions(experiment: &Experiment, scenario: &Scenario, only: Option<&str>) -> Option<f64> {
    let own = !scenario.phases.is_empty();
    let phases = if own { &scenario.phases } else { &experiment.phases };
    let share = if own { 1.0 } else { share(experiment, scenario) };
    let mut sum = 0.0;
    let meant =
        |phase: &&Phase| only.is_none_or(|only| phase.name.as_ref().is_some_and(|name| name.value == only));
    for phase in phases.iter().filter(|phase| !phase.warmup).filter(meant) {
        sum += of_phase(experiment, scenario, phase)?;
    }
    Some(sum * share)
}

/// Returns the scenario's share of the top-level phases.
fn share(experiment: &Experiment, scenario: &Scenario) -> f64 {
    let weights = experiment.scenarios.iter().filter_map(|one| Some(one.weight.as_ref()?.value as f64));
    let sum: f64 = weights.sum();
    scenario.weight.as_ref().map_or(1.0, |weight| weight.value as f64 / sum.max(1.0))
}

fn of_phase(experiment: &Experiment, scenario: &Scenario, phase: &Phase) -> Option<f64> {
    let cap = match phase.sessions.as_ref().map(|sessions| sessions.value) {
        Some(Sessions::Total(total)) => Some(total as f64),
        // `-n` of the command line counts requests.
        _ => match phase.requests {
            Some(most) => Some(most as f64 / requests(experiment, &scenario.steps, None)?.max(1.0)),
            None => None,
        },
    };
    let each = match phase.sessions.as_ref().map(|sessions| sessions.value) {
        Some(Sessions::Each(each)) => Some(each as f64),
        _ => None,
    };
    match &phase.load.value {
        PhaseLoad::Pause(_) => Some(0.0),
        PhaseLoad::Users(span) | PhaseLoad::Hold(span) => {
            each.map(|each| span.from.max(span.to) as f64 * each).or(cap)
        }
        PhaseLoad::Trace(_) => cap,
        PhaseLoad::Rate { rate, of_requests } => {
            let mean = f64::midpoint(rate.from.as_per_second(), rate.to.as_per_second());
            let arrivals = length(phase).map(|length| mean * length.as_secs_f64());
            let arrivals = match (arrivals, cap) {
                (Some(arrivals), Some(cap)) => Some(arrivals.min(cap)),
                (arrivals, cap) => arrivals.or(cap),
            }?;
            let per_session = if *of_requests { requests(experiment, &scenario.steps, None)? } else { 1.0 };
            Some(arrivals / per_session.max(1.0))
        }
    }
}

/// Returns the length of a rate phase.
fn length(phase: &Phase) -> Option<Nanos> {
    let PhaseLoad::Rate { rate, .. } = &phase.load.value else { return None };
    let height = (rate.to.as_per_second() - rate.from.as_per_second()).abs();
    match (&phase.length, &phase.at, &phase.stairs) {
        (Some(length), ..) => Some(length.value),
        (None, Some(at), _) => Some(Nanos((height / at.value.as_per_second() * 1e9) as i64)),
        (None, None, Some(stairs)) => match stairs.step {
            StairHeight::Rate(step) => {
                let count = (height / step.as_per_second()).ceil();
                Some(Nanos((count * stairs.every.0 as f64) as i64))
            }
            StairHeight::Count(_) => None,
        },
        _ => None,
    }
}

/// Returns the requests of one session, all or those of one name; `None` if that depends on
/// responses.
pub(super) fn requests<'e>(
    experiment: &'e Experiment,
    steps: &'e [Step],
    name: Option<&'e str>,
) -> Option<f64> {
    RequestCounter { experiment, name, blocks: BTreeMap::new() }.within(steps)
}

/// Counts each block only once: ten uses of ten uses of ten would take too long.
struct RequestCounter<'e> {
    experiment: &'e Experiment,
    name: Option<&'e str>,
    /// Known totals of a block; `None` while it is being counted, so that a block that uses itself
    /// ends.
    blocks: BTreeMap<&'e str, Option<f64>>,
}

impl<'e> RequestCounter<'e> {
    fn within(&mut self, steps: &'e [Step]) -> Option<f64> {
        let mut sum = 0.0;
        for step in steps {
            sum += self.of_step(step)?;
        }
        Some(sum)
    }

    fn of_step(&mut self, step: &'e Step) -> Option<f64> {
        let name = self.name;
        let counted = match &step.verb {
            Verb::Request(request) => {
                f64::from(u8::from(name.is_none_or(|name| request.display_name() == name)))
            }
            Verb::Group(group, steps) => {
                self.within(steps)? + f64::from(u8::from(name == Some(&group.value)))
            }
            Verb::Repeat(times, steps) => times.value as f64 * self.within(steps)?,
            Verb::Each { list: crate::model::ForEachItems::Items(items), steps, .. } => {
                items.len() as f64 * self.within(steps)?
            }
            Verb::Use(block) => self.of_block(&block.value)?,
            Verb::While { .. } | Verb::If { .. } | Verb::Choose(_) | Verb::Each { .. } | Verb::End(_) => {
                return None;
            }
            Verb::Think(_) | Verb::Set(_) | Verb::Log(_) | Verb::Rendezvous { .. } => 0.0,
        };
        Some(counted)
    }

    fn of_block(&mut self, name: &'e str) -> Option<f64> {
        if let Some(known) = self.blocks.get(name) {
            return *known;
        }
        let block = self.experiment.blocks.iter().find(|own| own.name.value == name)?;
        self.blocks.insert(name, None);
        let counted = self.within(&block.steps);
        self.blocks.insert(name, counted);
        counted
    }
}
