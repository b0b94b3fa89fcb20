//! [`ServiceStatus`]: the status of a service.

/// The state of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// All its processes run, and all its ports have a listener.
    Up,
    /// It runs, but is stopped, or does not listen any more.
    Down,
    /// It was stopped on purpose.
    Stopped,
    /// It ended by itself.
    Failed,
}

impl ServiceState {
    /// The name of the state, for people and scripts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// The status of a service.
#[derive(Clone, Debug)]
pub struct ServiceStatus {
    /// Its name on its host.
    pub name: String,
    /// Its state.
    pub state: ServiceState,
    /// Its processes, as the host's PID namespace numbers them. Those that the lab started come
    /// first.
    pub pids: Vec<u32>,
    /// Its program's version.
    pub version: Option<String>,
    /// Its last output, if it failed.
    pub said: Option<String>,
}
