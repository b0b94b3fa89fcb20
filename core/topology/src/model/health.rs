//! [`Health`]: when a service counts as up.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// The health probe of a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The kind of probe.
    pub probe: Probe,
    /// Interval between two attempts.
    #[serde(with = "super::serde_with::nanos")]
    pub every: Nanos,
    /// Time limit from its start. If the service is not up by then, starting the lab fails.
    #[serde(with = "super::serde_with::nanos")]
    pub within: Nanos,
}

/// A probe of a service. It runs inside the service's host, against the host's first address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Probe {
    /// No probe, because the service is not a process.
    None,
    /// The processes must still run after `every`.
    Alive,
    /// A connection to this port must be accepted.
    Tcp {
        /// The port.
        port: u16,
    },
    /// A GET over plain HTTP must return a status from 200 to 399.
    Http {
        /// The port.
        port: u16,
        /// The path, starting with `/`.
        path: String,
    },
}
