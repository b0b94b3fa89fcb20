//! [`FleetResult`]: what became of the agents of a fleet, for the record and the verdict.

use wavetank_diagnose::{FleetGaps, Throttling};
use wavetank_fleet::{AgentEnd, AgentOutcome, AgentView, EndCause, FleetStatus};
use wavetank_record::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc, FleetStatusDoc, Number};
use wavetank_units::Nanos;

use crate::remote_agents::RemoteAgent;

/// What became of the agents of a fleet.
pub(crate) struct FleetResult {
    pub(crate) doc: FleetDoc,
    pub(crate) gaps: FleetGaps,
    /// CPUs of all agents.
    pub(crate) cpus: u32,
    /// The largest share of CPU time that a hypervisor took from an agent.
    pub(crate) steal: Option<f64>,
    /// How a CPU quota stopped the agent that it stopped longest.
    pub(crate) throttling: Option<Throttling>,
}

impl FleetResult {
    /// CPU time of all agents in user mode and in the kernel, seconds.
    pub(crate) fn cpu_s(&self) -> (f64, f64) {
        let sum = |of: fn(&AgentDoc) -> Number| self.doc.agents.iter().map(|agent| of(agent).0).sum();
        (sum(|agent| agent.cpu_user_s), sum(|agent| agent.cpu_system_s))
    }

    /// Peak memory of the agent with the most, bytes.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        self.doc.agents.iter().map(|agent| agent.peak_rss_bytes).max().unwrap_or(0)
    }
}

pub(super) fn agent_doc(
    outcome: &AgentOutcome,
    (agent, view): (Option<&RemoteAgent>, Option<&AgentView>),
    losses: Vec<AgentLossDoc>,
) -> AgentDoc {
    let health = agent.and_then(|agent| agent.health).unwrap_or_default();
    AgentDoc {
        name: outcome.name.clone(),
        share: (outcome.share.first, outcome.share.width, outcome.share.of),
        weight: outcome.share.width,
        cores: agent.map_or(0, |agent| agent.cores),
        sent: agent.map_or(0, |agent| agent.sent),
        intervals: outcome.intervals,
        unstored: outcome.unstored,
        end: end_doc(outcome.end),
        losses,
        refusals: outcome.refused.iter().map(|reason| format!("{reason:?}")).collect(),
        first_sent_ns: None,
        clock_uncertainty_us: view.and_then(|view| view.clock).map(|(_, error)| micros(error)),
        cpu_user_s: health.cpu_user_s,
        cpu_system_s: health.cpu_system_s,
        peak_rss_bytes: health.peak_rss_bytes,
    }
}

pub(super) fn micros(time: Nanos) -> Number {
    Number::micros(time.0.unsigned_abs())
}

pub(super) const fn status_doc(status: FleetStatus) -> FleetStatusDoc {
    match status {
        FleetStatus::Complete => FleetStatusDoc::Complete,
        FleetStatus::Tolerated => FleetStatusDoc::Tolerated,
        FleetStatus::Incomplete => FleetStatusDoc::Incomplete,
        FleetStatus::Aborted => FleetStatusDoc::Aborted,
        FleetStatus::NotStarted => FleetStatusDoc::NotStarted,
    }
}

/// Returns how an agent ended, as it is stored.
pub const fn end_doc(end: AgentEnd) -> AgentEndDoc {
    match end {
        AgentEnd::Sealed(EndCause::Plan) => AgentEndDoc::Plan,
        AgentEnd::Sealed(EndCause::Command) => AgentEndDoc::Command,
        AgentEnd::Sealed(EndCause::NotStarted) => AgentEndDoc::NotStarted,
        AgentEnd::Sealed(EndCause::Orphaned) => AgentEndDoc::Orphaned,
        AgentEnd::Sealed(EndCause::Overdue) => AgentEndDoc::Overdue,
        AgentEnd::Sealed(EndCause::Crashed) => AgentEndDoc::Crashed,
        AgentEnd::Lost => AgentEndDoc::Lost,
        AgentEnd::Unfinished => AgentEndDoc::Unfinished,
    }
}
