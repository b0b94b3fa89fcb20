//! [`FleetDoc`]: the agents of a run on several hosts.

use serde::{Deserialize, Serialize};

use crate::Number;

/// The agents of a run, and how completely they carried out its plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetDoc {
    /// How completely the plan was carried out.
    pub status: FleetStatusDoc,
    /// Most that the first requests of two agents were apart, microseconds. Absent if an agent did
    /// not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_skew_us: Option<Number>,
    /// Agents may have started up to this far apart, by the uncertainty of their clocks,
    /// microseconds.
    #[serde(default)]
    pub start_uncertainty_us: Number,
    /// Names of the phases from which on the other agents sent the load of lost ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebalanced: Vec<String>,
    /// Each agent, in the order of their shares.
    pub agents: Vec<AgentDoc>,
}

/// How completely a fleet carried out its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FleetStatusDoc {
    /// By every agent.
    #[default]
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

impl FleetStatusDoc {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Tolerated => "tolerated",
            Self::Incomplete => "incomplete",
            Self::Aborted => "aborted",
            Self::NotStarted => "not_started",
        }
    }
}

/// One agent of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentDoc {
    /// Its name.
    pub name: String,
    /// Its last share of the load: first, width, of.
    pub share: (u64, u64, u64),
    /// The weight that its share follows from.
    #[serde(default)]
    pub weight: u64,
    /// CPUs that it may use.
    #[serde(default)]
    pub cores: u32,
    /// Requests that it sent, warm-up included.
    #[serde(default)]
    pub sent: u64,
    /// How many intervals it sealed, as far as the controller knows.
    pub intervals: u64,
    /// How many of them are not in the archive.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unstored: u64,
    /// How it ended.
    pub end: AgentEndDoc,
    /// Each time it was silent under load, also if it came back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<AgentLossDoc>,
    /// Why it refused commands of the controller, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
    /// When its first request or connection was begun, nanoseconds on the run's clock. Absent if
    /// it did not measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_sent_ns: Option<i64>,
    /// Uncertainty of its clock's offset, microseconds. Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_uncertainty_us: Option<Number>,
    /// CPU time in user mode, seconds.
    #[serde(default)]
    pub cpu_user_s: Number,
    /// CPU time in the kernel, seconds.
    #[serde(default)]
    pub cpu_system_s: Number,
    /// Peak resident memory, bytes.
    #[serde(default)]
    pub peak_rss_bytes: u64,
}

/// How an agent ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEndDoc {
    /// It carried out its share.
    #[default]
    Plan,
    /// A drain or stop of the controller.
    Command,
    /// It ended before the start.
    NotStarted,
    /// It did not hear its controller any more.
    Orphaned,
    /// The hard end of the run passed.
    Overdue,
    /// Its process ended early, and its intervals were found later.
    Crashed,
    /// It was not heard any more.
    Lost,
    /// It was heard, but did not end.
    Unfinished,
}

impl AgentEndDoc {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Command => "command",
            Self::NotStarted => "not_started",
            Self::Orphaned => "orphaned",
            Self::Overdue => "overdue",
            Self::Crashed => "crashed",
            Self::Lost => "lost",
            Self::Unfinished => "unfinished",
        }
    }
}

/// An agent was silent under load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentLossDoc {
    /// When it was noticed, nanoseconds on the run's clock.
    pub at_ns: i64,
    /// Name of the phase at that time; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Number of its last interval that was seen then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_interval: Option<u64>,
}

/// Whether a count of 0 is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
