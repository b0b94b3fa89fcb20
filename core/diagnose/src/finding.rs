//! [`Finding`]: one diagnosis, with its evidence and a way out.

/// Who set the limit, or who is to blame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Blame {
    /// Nobody: no limit was met.
    #[default]
    None,
    /// Wavetank or the host it runs on.
    Generator,
    /// What lies between.
    Network,
    /// The balancer.
    Balancer,
    /// Everything behind the target's address.
    Target,
    /// Nothing proves whose it was.
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

/// One diagnosis. Findings can change the verdict; circumstances that never do are notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable short name, e.g. `late`, for scripts.
    pub code: &'static str,
    /// Whose doing it is.
    pub blame: Blame,
    /// It turned the verdict, or is its reason; otherwise a remark beside it.
    pub decisive: bool,
    /// What was found, in one clear line.
    pub message: String,
    /// The numbers behind it.
    pub evidence: String,
    /// What to do about it; may be empty.
    pub hint: String,
}
