//! [`Fault`]: an intended failure.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_units::Nanos;

/// A fault in the topology file. It is carried out in every run in the lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Time after the start of the load.
    #[serde(with = "super::serde_with::nanos")]
    pub when: Nanos,
    /// Duration until it is reverted; `None`: until the end of the run.
    #[serde(with = "super::serde_with::nanos_option")]
    pub lasts: Option<Nanos>,
    /// Name of the host. A pattern in the file has become one fault for each host.
    pub host: String,
    /// The kind of fault.
    pub what: FaultKind,
    /// Position in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// The kind of a fault. Services are given by their names on the host, interfaces by their own
/// names (`eth0`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// Kills all processes of a service with SIGKILL. Reverted by starting it again.
    Kill {
        /// The service.
        service: String,
    },
    /// Stops a service in its regular way. Reverted by starting it again.
    Stop {
        /// The service.
        service: String,
    },
    /// Pauses all processes of a service (SIGSTOP). Reverted by SIGCONT.
    Pause {
        /// The service.
        service: String,
    },
    /// Cuts the cable of an interface.
    Cut {
        /// The interface.
        interface: String,
    },
    /// Drops a share of an interface's packets in both directions.
    Drop {
        /// The interface.
        interface: String,
        /// Dropped packets per million.
        share_ppm: u32,
    },
    /// Limits the number of files that a service's processes can open.
    Files {
        /// The service.
        service: String,
        /// The limit (`RLIMIT_NOFILE`).
        limit: u64,
    },
    /// Slows a service down.
    Slow {
        /// The service.
        service: String,
        /// The delay.
        #[serde(with = "super::serde_with::nanos")]
        delay: Nanos,
    },
}

impl FaultKind {
    /// Returns the verb of this kind in the file and on the command line.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Kill { .. } => "kill",
            Self::Stop { .. } => "stop",
            Self::Pause { .. } => "pause",
            Self::Cut { .. } => "cut",
            Self::Drop { .. } => "drop",
            Self::Files { .. } => "files",
            Self::Slow { .. } => "slow",
        }
    }

    /// Returns the affected service, or `None` if an interface is affected.
    pub fn service(&self) -> Option<&str> {
        match self {
            Self::Kill { service }
            | Self::Stop { service }
            | Self::Pause { service }
            | Self::Files { service, .. }
            | Self::Slow { service, .. } => Some(service),
            Self::Cut { .. } | Self::Drop { .. } => None,
        }
    }
}
