//! [`cut_short`]: why a load ended before its plan did, or is not known to its end.

use wavetank_units::{Sentence, phrase, sentence};

use crate::facts::Facts;
use crate::{RunEnd, error_class_text};

/// Headlines of runs that were ended from outside.
pub(crate) const SIGNAL: Sentence = phrase!("interrupted by a signal");
pub(crate) const STOPPED: Sentence = phrase!("stopped by hand");
const AGENT_LOST: Sentence = phrase!("stopped because an agent was lost");

/// Losses that the headline names; the others are counted.
const LOST_SHOWN_MAX: usize = 3;

/// Returns why the load did not run to the end of its plan, if the facts show that it did not.
pub(crate) fn cut_short(facts: &Facts<'_>) -> Option<Sentence> {
    match facts.ending {
        RunEnd::Finished => running(facts).or_else(|| lost(facts)),
        RunEnd::Signal => Some(SIGNAL),
        RunEnd::Stopped => Some(STOPPED),
        RunEnd::AgentLost => Some(AGENT_LOST),
        RunEnd::StopFired { condition, .. } => Some(sentence!("`{condition}`")),
        RunEnd::StepFailed { step, scenario } => Some(step_failed_text(step, scenario)),
        RunEnd::Hopeless { class } => {
            Some(sentence!("gave up because no request was done: {}", error_class_text::description(*class)))
        }
        RunEnd::NeverBegan { .. } | RunEnd::ProbeFailed { .. } | RunEnd::BeforeFailed => None,
    }
}

pub(crate) fn step_failed_text(step: &str, scenario: &str) -> Sentence {
    if scenario.is_empty() {
        sentence!("{step} failed, and its `on_failure` ends the run")
    } else {
        sentence!("{step} of {scenario} failed, and its `on_failure` ends the run")
    }
}

/// The headline of a run that has not ended.
pub(crate) fn running(facts: &Facts<'_>) -> Option<Sentence> {
    facts.circumstances.running.then(|| phrase!("the run is still running: results so far"))
}

/// The headline of a run if its record lacks something.
pub(crate) fn lost(facts: &Facts<'_>) -> Option<Sentence> {
    let lost = &facts.circumstances.lost;
    // Only the headline is printed, so it has several of them.
    let mut reported: Vec<_> = lost.iter().take(LOST_SHOWN_MAX).cloned().collect();
    if lost.len() > LOST_SHOWN_MAX {
        reported.push(sentence!("and {} more", lost.len() - LOST_SHOWN_MAX));
    }
    (!lost.is_empty()).then(|| sentence!("lost: {}", Sentence::join(reported, "; ")))
}
