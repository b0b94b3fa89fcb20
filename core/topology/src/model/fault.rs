//! [`Fault`]: something that goes wrong on purpose.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_plan::Nanos;

/// A fault of the lab's own, carried out in every run with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Time after the start of the load.
    #[serde(with = "super::serde_with::nanos")]
    pub when: Nanos,
    /// How long it lasts until it is undone; `None`: to the end of the run.
    #[serde(with = "super::serde_with::nanos_option")]
    pub lasts: Option<Nanos>,
    /// Name of the host; a pattern of the file has become one fault for each host.
    pub host: String,
    /// What happens.
    pub what: FaultKind,
    /// Where it stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// What happens; services are told by their names on the host, interfaces by theirs (`eth0`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FaultKind {
    /// All processes of a service get SIGKILL; undone by starting it again.
    Kill {
        /// The service.
        service: String,
    },
    /// A service is stopped in its own orderly way; undone by starting it again.
    Stop {
        /// The service.
        service: String,
    },
    /// All processes of a service stand still (SIGSTOP); undone by SIGCONT.
    Pause {
        /// The service.
        service: String,
    },
    /// An interface's cable is cut.
    Cut {
        /// The interface.
        interface: String,
    },
    /// A share of an interface's packets is lost, in either direction.
    Drop {
        /// The interface.
        interface: String,
        /// Packets of a million.
        share_ppm: u32,
    },
    /// A service's processes can open files up to this number only.
    Files {
        /// The service.
        service: String,
        /// The limit (`RLIMIT_NOFILE`).
        limit: u64,
    },
    /// A service takes longer to answer.
    Slow {
        /// The service.
        service: String,
        /// By how much.
        #[serde(with = "super::serde_with::nanos")]
        delay: Nanos,
    },
}

impl FaultKind {
    /// Its verb in the file and on the command line.
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

    /// The service that it is about; `None`: it is about an interface.
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
