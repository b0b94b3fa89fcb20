//! [`start_errors`]: why a fleet did not start.

use std::fmt::Display;

use wavetank_fleet::{Outcome, RefusalReason, StartProblem};
use wavetank_units::{Code, UserError};

/// Returns an error for each host that kept the run from starting.
pub(super) fn start_errors(outcome: &Outcome) -> Vec<UserError> {
    let busy = "repeat it when hosts and network are less busy";
    let refused = |name: &str, reason: &dyn Display, hint| {
        UserError::refused(Code::FleetRefused, format!("cannot start on {name}: {reason}"), hint)
    };
    let refusals = outcome.refusals.iter().map(|refusal| {
        let hint = match refusal.reason {
            StartProblem::Clock { .. } => busy,
            _ => "give it a smaller weight, or leave it out: --without HOST",
        };
        refused(&refusal.name, &refusal.reason, hint)
    });
    // All were ready, and the message with the instant of the start came after it.
    let late = outcome.agents.iter().filter(|agent| agent.refused.contains(&RefusalReason::TooLate));
    refusals.chain(late.map(|agent| refused(&agent.name, &"it heard too late of the start", busy))).collect()
}
