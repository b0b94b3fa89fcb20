//! [`Outcome`]: how a run ended, from the fleet's point of view.

use wavetank_plan::Nanos;

use crate::{AgentId, EndCause, RefusalReason};

/// How a run ended. The measured data is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Zero of the run's clock; `None`: it was never committed, and nothing was sent.
    pub started_at: Option<Nanos>,
    /// Every agent's end, in the order of their numbers.
    pub agents: Vec<AgentOutcome>,
}

/// How it ended for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOutcome {
    /// Which one.
    pub agent: AgentId,
    /// How it ended.
    pub end: AgentEnd,
    /// Number of its intervals that the controller has seen: 0 to `intervals − 1`.
    pub intervals: u64,
    /// The reasons of commands that it refused.
    pub refused: Vec<RefusalReason>,
}

/// The end of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It sealed its last interval, and all of them were noticed.
    Sealed(EndCause),
    /// It was not heard any more.
    Lost,
    /// It was heard, but did not end.
    Unfinished,
}

impl Outcome {
    /// Whether every agent carried out the plan and all commands completely; otherwise the run is
    /// incomplete.
    pub fn is_complete(&self) -> bool {
        self.started_at.is_some() && self.agents.iter().all(AgentOutcome::is_complete)
    }
}

impl AgentOutcome {
    /// Whether this agent carried everything out.
    pub fn is_complete(&self) -> bool {
        let ended = matches!(self.end, AgentEnd::Sealed(EndCause::Plan | EndCause::Command));
        ended && self.refused.is_empty()
    }
}
