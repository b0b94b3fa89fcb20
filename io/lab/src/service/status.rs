//! [`ServiceStatus`]: what is known of a service.

/// Where a service stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// All its processes run, and something listens on its ports.
    Up,
    /// It runs, but stands still, or listens no more.
    Down,
    /// It was stopped on purpose.
    Stopped,
    /// It ended by itself.
    Failed,
}

impl ServiceState {
    /// In one word, for people and scripts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// What is known of a service.
#[derive(Clone, Debug)]
pub struct ServiceStatus {
    /// Its name on its host.
    pub name: String,
    /// Where it stands.
    pub state: ServiceState,
    /// Its processes, as the host's PID namespace numbers them; those that the lab started come first.
    pub pids: Vec<u32>,
    /// What the program calls its version.
    pub version: Option<String>,
    /// The last it said, where it failed.
    pub said: Option<String>,
}
