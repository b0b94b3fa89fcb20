//! [`Outcome`]: how a run ended, as far as the fleet knows.

use wavetank_plan::Nanos;

use crate::{AgentId, EndCause, RefusalReason};

/// How a run ended. What it measured is not known here.
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
    /// How many of its intervals were noticed: 0 to `intervals − 1`.
    pub intervals: u64,
    /// What it refused on the way.
    pub refused: Vec<RefusalReason>,
}

/// The end of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentEnd {
    /// It sealed its last interval, and all of them were noticed.
    Sealed(EndCause),
    /// It was not heard any more.
    Lost,
    /// It was heard, but did not come to an end.
    Unfinished,
}

impl Outcome {
    /// Whether everything the plan or a command wanted was carried out by everybody; otherwise the run is
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
