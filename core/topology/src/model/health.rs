//! [`Health`]: when a service counts as up.

use serde::{Deserialize, Serialize};
use wavetank_plan::Nanos;

/// How a service is asked whether it is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// What is asked.
    pub probe: Probe,
    /// Time between two tries.
    #[serde(with = "super::serde_with::nanos")]
    pub every: Nanos,
    /// From its start on it must be up within this time, else the lab is not.
    #[serde(with = "super::serde_with::nanos")]
    pub within: Nanos,
}

/// What is asked of a service, from inside its own host, at its own first address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    /// Nothing: it is no process.
    None,
    /// That its processes still run after `every`.
    Alive,
    /// That a connection to this port is accepted.
    Tcp {
        /// The port.
        port: u16,
    },
    /// That a GET over plain HTTP is answered with a status from 200 to 399.
    Http {
        /// The port.
        port: u16,
        /// The path, beginning with `/`.
        path: String,
    },
}
