//! [`Finding`]: one diagnosis, with its evidence and a hint.

use crate::Fix;

/// The side that set the limit or caused the failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// No side: no limit was reached.
    #[default]
    None,
    /// Wavetank or the host it runs on.
    Generator,
    /// The network between generator and target.
    Network,
    /// The balancer.
    Balancer,
    /// Everything behind the target's address.
    Target,
    /// The evidence does not identify a side.
    Unknown,
}

impl Blame {
    /// The name used in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Generator => "generator",
            Self::Network => "network",
            Self::Balancer => "balancer",
            Self::Target => "target",
            Self::Unknown => "unknown",
        }
    }
}

/// One diagnosis, with a cause, evidence and a hint. Only decisive findings belong to the verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable short name, e.g. `late`, for scripts.
    pub code: &'static str,
    /// The side that caused it.
    pub blame: Blame,
    /// Whether it is a reason of the verdict; otherwise it is a remark.
    pub decisive: bool,
    /// The finding in one line.
    pub message: String,
    /// The numbers behind it.
    pub evidence: String,
    /// How to fix it; may be empty.
    pub hint: String,
    /// The changes of settings that remove the cause, if there are some.
    pub fix: Vec<Fix>,
}

/// Codes of findings for which several values agree, while no counter or log names the cause.
const MEDIUM: [&str; 22] = [
    "abandoned_requests",
    "closed_by_host",
    "connection_tracking",
    "cpu_full",
    "cut_by_reload",
    "delayed_acks",
    "disk_wait",
    "drift_in_flight",
    "drift_memory",
    "drift_p99",
    "flows_forgotten",
    "generator_cpu",
    "one_cpu_full",
    "packet_loss",
    "slow_reader",
    "slow_server",
    "standstill",
    "socket_backlog",
    "cpu_steal",
    "many_orphans",
    "smt_siblings",
    "stuck_worker",
];
/// Codes of findings that are hints: the load is uneven, or a limit is near.
const LOW: [&str; 4] = ["accept_queue_near", "balancer_bypassed", "one_server_only", "ports_half_used"];

impl Finding {
    /// Returns how directly the evidence shows it: `high` if a log or a counter names exactly this,
    /// `medium` if several values agree, `low` for a hint.
    pub fn confidence(&self) -> &'static str {
        match self.code {
            code if MEDIUM.contains(&code) => "medium",
            code if LOW.contains(&code) => "low",
            _ => "high",
        }
    }
}
