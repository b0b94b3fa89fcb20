//! [`Outcome`]: how a run ended, from the fleet's point of view.

use std::fmt;

use serde::{Deserialize, Serialize};
use wavetank_pace::Partition;
use wavetank_units::Nanos;

use crate::hello::DenialReason;
use crate::message::{AgentId, EndCause, RefusalReason};
use crate::wire_values::{instant, partition};

/// How a run ended. The measured data is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How completely the plan was carried out.
    pub status: FleetStatus,
    /// Zero of the run's clock; `None`: it was never committed, and nothing was sent.
    pub started_at: Option<Nanos>,
    /// Every agent's end, in the order of their shares.
    pub agents: Vec<AgentOutcome>,
    /// Why the run could not start: one row per host and reason.
    pub refusals: Vec<StartRefusal>,
    /// Agents that were silent under load, also those that came back.
    pub losses: Vec<Loss>,
    /// The phases from which on shares changed.
    pub rebalanced: Vec<u16>,
    /// Most that the first requests of two agents were apart, if all agents measured them.
    pub start_skew: Option<Nanos>,
    /// Agents may have started up to this far apart, by the uncertainty of their clocks.
    pub start_uncertainty: Nanos,
}

/// How completely the plan was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetStatus {
    /// By every agent.
    Complete,
    /// Agents are missing, within the tolerated share.
    Tolerated,
    /// Agents or intervals are missing.
    Incomplete,
    /// An agent was lost, and the run was to be aborted then.
    Aborted,
    /// The run was never committed; nothing was sent.
    NotStarted,
}

/// How it ended for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOutcome {
    /// Which one. After a restart of the controller: `None` if it was never heard.
    pub agent: Option<AgentId>,
    /// Its name.
    pub name: String,
    /// Its last share.
    pub share: Partition,
    /// How it ended.
    pub end: AgentEnd,
    /// Number of its intervals that the controller has seen: 0 to `intervals − 1`.
    pub intervals: u64,
    /// Number of its intervals that were never stored.
    pub unstored: u64,
    /// The reasons of commands of this controller that it refused.
    pub refused: Vec<RefusalReason>,
    /// How many changes and new shares it refused, also those of a former controller.
    pub adjustments_refused: u64,
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

/// An agent was silent under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Loss {
    /// Its name.
    pub name: String,
    /// The part of the load that was its own.
    #[serde(with = "partition")]
    pub share: Partition,
    /// When it was noticed, on the run's clock.
    #[serde(with = "instant", rename = "at_ns")]
    pub at: Nanos,
    /// Index of the phase at that time; `None` before the first one.
    pub phase: Option<u16>,
    /// Number of its last interval that was seen then.
    pub last_interval: Option<u64>,
}

/// A host that keeps the run from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartRefusal {
    /// The agent's name.
    pub name: String,
    /// The reason.
    pub reason: StartProblem,
}

/// Why a host keeps the run from starting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartProblem {
    /// The agent was denied.
    Denied(DenialReason),
    /// The agent has not reported in time. Agents without a name are counted, see
    /// [`StartProblem::TooFew`].
    Missing,
    /// Only some of the required agents reported in time.
    TooFew {
        /// How many reported.
        found: u32,
        /// How many are required.
        required: u32,
    },
    /// It refused the offer or the commitment.
    Refused(RefusalReason),
    /// It was lost before the start.
    Lost,
    /// It was not prepared in time.
    NotPrepared,
    /// Its clock is too uncertain: it and another agent might start this far apart.
    Clock {
        /// Most that they might start apart.
        uncertainty: Nanos,
        /// What is allowed.
        tolerance: Nanos,
    },
}

impl Outcome {
    /// Whether the plan was carried out, except at most for the tolerated share; otherwise the run
    /// is incomplete.
    pub fn is_complete(&self) -> bool {
        matches!(self.status, FleetStatus::Complete | FleetStatus::Tolerated)
    }
}

impl AgentOutcome {
    /// Whether this agent carried everything out, and all of its data is there.
    pub fn is_complete(&self) -> bool {
        let ended = matches!(self.end, AgentEnd::Sealed(EndCause::Plan | EndCause::Command));
        ended && self.refused.is_empty() && self.unstored == 0 && self.adjustments_refused == 0
    }
}

impl fmt::Display for StartProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied(reason) => reason.fmt(f),
            Self::Missing => f.write_str("it has not reported"),
            Self::TooFew { found, required } => write!(f, "{found} of {required} agents reported"),
            Self::Refused(RefusalReason::Host(lines)) => f.write_str(&lines.join("; ")),
            Self::Refused(RefusalReason::PlanHash { found }) => write!(f, "it has another plan, {found}"),
            Self::Refused(RefusalReason::Busy { .. }) => f.write_str("it takes part in another run"),
            Self::Refused(RefusalReason::TooLate) => f.write_str("the commitment reached it too late"),
            Self::Refused(RefusalReason::OlderEpoch { .. }) => f.write_str("another controller owns it"),
            Self::Refused(RefusalReason::WrongState(_) | RefusalReason::Unsupported) => {
                f.write_str("it refused a command")
            }
            Self::Lost => f.write_str("it was lost before the start"),
            Self::NotPrepared => f.write_str("it was not prepared in time"),
            Self::Clock { uncertainty, tolerance } => {
                write!(f, "it may start {uncertainty} apart from another agent, more than {tolerance}")
            }
        }
    }
}
