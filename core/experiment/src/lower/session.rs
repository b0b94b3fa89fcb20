//! [`SessionFacts`]: facts about a scenario's sessions that are known before the run.

use wavetank_plan::{ConnectionOwner, HttpPlan, Scenario};
use wavetank_units::Nanos;

/// See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionFacts {
    /// Number of requests, including a user's first and last ones; `None` if it depends on
    /// responses or chance.
    pub(super) requests: Option<u64>,
    /// Maximum duration.
    pub(super) longest: Nanos,
    /// Owner of the connections it uses.
    pub(super) connection: ConnectionOwner,
    /// Number of targets, at least 1. A separate connection leads to each.
    pub(super) targets: u64,
}

impl SessionFacts {
    pub(super) fn for_scenario(scenario: &Scenario, http: &HttpPlan) -> Self {
        let requests = scenario.requests();
        let longest = scenario.max_duration(http.timeout);
        let mut targets: Vec<usize> = scenario.steps.iter().map(|step| step.target).collect();
        targets.sort_unstable();
        targets.dedup();
        Self { requests, longest, connection: scenario.connection, targets: targets.len().max(1) as u64 }
    }
}
