//! Services of a host: written, checked, started, watched over, stopped.

use std::path::Path;

use serde_json::Value;
use wavetank_plan::UserError;
use wavetank_topology::Lab;

/// Where a service stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// It runs and answered when it was last asked.
    Up,
    /// It runs and does not answer.
    Down,
    /// It was stopped on purpose.
    Stopped,
    /// It ended by itself.
    Failed,
}

impl ServiceState {
    /// In one word, for people and scripts.
    pub const fn word(self) -> &'static str {
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
    /// Its processes, as the host's PID namespace numbers them.
    pub pids: Vec<u32>,
    /// What the program calls its version.
    pub version: Option<String>,
    /// The last it said, where it failed.
    pub said: Option<String>,
}

/// All services of one host, in the host's process.
#[derive(Debug)]
pub struct Services {
    wanted: usize,
}

/// Whether every program the lab's services need is on this machine.
pub fn check_programs(lab: &Lab) -> Result<(), UserError> {
    if lab.hosts.iter().all(|host| host.services.is_empty()) {
        return Ok(());
    }
    Err(UserError::refused(
        "value_later",
        "services of a lab come with a later version",
        "a lab without services",
    ))
}

impl Services {
    /// The services of `lab.hosts[host]`; what they write goes into `folder`. `file` is the topology file as the user
    /// named it, for messages.
    pub fn new(lab: &Lab, host: usize, _folder: &Path, _file: &str) -> Self {
        Self { wanted: lab.hosts[host].services.len() }
    }

    /// Writes the configurations and lets the programs check them.
    pub fn check(&mut self) -> Result<(), UserError> {
        if self.wanted == 0 {
            return Ok(());
        }
        Err(UserError::refused(
            "value_later",
            "services of a lab come with a later version",
            "a lab without services",
        ))
    }

    /// Starts all of them and waits until they are healthy.
    pub fn start(&mut self) -> Result<(), UserError> {
        self.check()
    }

    /// The child `pid` has ended and is not reaped yet: true if it was a service's, and is reaped now.
    pub fn handle_exit(&mut self, _pid: u32) -> bool {
        false
    }

    /// Stops all of them, the last started first.
    pub fn stop(&mut self) {}

    /// How they do.
    pub fn status(&self) -> Vec<ServiceStatus> {
        Vec::new()
    }

    /// A client's question that is the services' own.
    pub fn handle(&mut self, _say: &Value) -> Result<Value, UserError> {
        Err(UserError::refused(
            "lab_message",
            "the host has no such answer",
            "wavetank lab status says what it has",
        ))
    }
}
