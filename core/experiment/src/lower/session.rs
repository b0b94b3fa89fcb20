//! [`SessionFacts`]: what is known of a scenario's session before it is run.

use wavetank_plan::{ConnectionOwner, HttpPlan, Nanos, Scenario};

/// See the module's description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionFacts {
    /// Requests, a user's first and last ones included; `None`: that depends on answers or chance.
    pub(super) requests: Option<u64>,
    /// It lasts this long at most.
    pub(super) longest: Nanos,
    /// Owner of the connections it uses.
    pub(super) connection: ConnectionOwner,
    /// Targets that it goes to, one at least: a connection of its own leads to one.
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
