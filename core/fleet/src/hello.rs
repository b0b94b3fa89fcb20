//! [`Hello`]: how an agent introduces itself, and why it may be denied.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::message::AgentState;

/// An agent introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Hello {
    /// Version of its program. All programs of a fleet have the same version.
    pub version: String,
    /// The agent's name, unique in a fleet.
    pub name: String,
    /// Differs for each process, so that a restarted agent is recognised.
    pub instance: u64,
    /// What its host can do.
    pub capabilities: Capabilities,
    /// Its state in the run of the message.
    pub state: AgentState,
}

/// What a host can do, as far as a controller needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Capabilities {
    /// CPUs that load threads may use.
    pub cores: u32,
    /// Sockets and files that may be open.
    pub files: u64,
    /// Pairs of source address and port for each target address.
    pub ports: u64,
    /// Requests per second that the host sustained in its last calibration.
    pub calibration: Option<u64>,
    /// Whether the share can change under load, at the start of a phase.
    pub rebalance: bool,
}

/// The identity of an agent: everything of a [`Hello`] that does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// As in [`Hello::version`].
    pub version: String,
    /// As in [`Hello::name`].
    pub name: String,
    /// As in [`Hello::instance`].
    pub instance: u64,
    /// As in [`Hello::capabilities`].
    pub capabilities: Capabilities,
}

impl Identity {
    /// The greeting of an agent in this state.
    pub fn hello(&self, state: AgentState) -> Hello {
        let Self { version, name, instance, capabilities } = self.clone();
        Hello { version, name, instance, capabilities, state }
    }
}

/// Why an agent does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DenialReason {
    /// Its program has another version than the controller's.
    Version {
        /// The controller's version.
        expected: String,
    },
    /// Another agent has the same name.
    DuplicateName,
    /// The fleet does not list it, or is complete without it.
    NotInFleet,
    /// The run has begun without it.
    TooLate,
}

impl fmt::Display for DenialReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { expected } => write!(f, "its version is not {expected}"),
            Self::DuplicateName => f.write_str("another agent has the same name"),
            Self::NotInFleet => f.write_str("the fleet does not include it"),
            Self::TooLate => f.write_str("the run has started without it"),
        }
    }
}
