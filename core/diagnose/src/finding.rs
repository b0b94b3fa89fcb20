//! [`Finding`]: one diagnosis, with its evidence and a hint.

use crate::{FindingCode, Fix};

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
    /// What it is about.
    pub code: FindingCode,
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
