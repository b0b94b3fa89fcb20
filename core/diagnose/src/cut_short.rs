//! [`cut_short`]: why a load ended before its plan did, or is not known to its end.

use crate::facts::Facts;
use crate::{RunEnd, error_class_text};

/// Headlines of runs that were ended from outside.
pub(crate) const SIGNAL: &str = "interrupted by a signal";
pub(crate) const STOPPED: &str = "stopped by hand";
const AGENT_LOST: &str = "stopped because an agent was lost";

/// Losses that the headline names; the others are counted.
const LOST_SHOWN_MAX: usize = 3;

/// Returns why the load did not run to the end of its plan, if the facts show that it did not.
pub(crate) fn cut_short(facts: &Facts<'_>) -> Option<String> {
    match facts.ending {
        RunEnd::Finished => running(facts).or_else(|| lost(facts)),
        RunEnd::Signal => Some(SIGNAL.to_owned()),
        RunEnd::Stopped => Some(STOPPED.to_owned()),
        RunEnd::AgentLost => Some(AGENT_LOST.to_owned()),
        RunEnd::StopFired { condition, .. } => Some(format!("`{condition}`")),
        RunEnd::StepFailed { step, scenario } => Some(step_failed_text(step, scenario)),
        RunEnd::Hopeless { class } => {
            Some(format!("gave up because no request was done: {}", error_class_text::description(*class)))
        }
        RunEnd::NeverBegan { .. } | RunEnd::ProbeFailed { .. } | RunEnd::BeforeFailed => None,
    }
}

pub(crate) fn step_failed_text(step: &str, scenario: &str) -> String {
    let of = if scenario.is_empty() { String::new() } else { format!(" of {scenario}") };
    format!("{step}{of} failed, and its `on_failure` ends the run")
}

/// The headline of a run that has not ended.
pub(crate) fn running(facts: &Facts<'_>) -> Option<String> {
    facts.circumstances.running.then(|| "the run is still running: results so far".to_owned())
}

/// The headline of a run if its record lacks something.
pub(crate) fn lost(facts: &Facts<'_>) -> Option<String> {
    let lost = &facts.circumstances.lost;
    // Only the headline is printed, so it has several of them.
    let mut reported: Vec<_> = lost.iter().take(LOST_SHOWN_MAX).cloned().collect();
    if lost.len() > LOST_SHOWN_MAX {
        reported.push(format!("and {} more", lost.len() - LOST_SHOWN_MAX));
    }
    (!lost.is_empty()).then(|| format!("lost: {}", reported.join("; ")))
}
