//! [`LabArgs`]: converted arguments of `wavetank lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use wavetank_plan::Nanos;

use super::args::{FileFormat, RunArgs};

/// `wavetank lab`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabArgs {
    /// Name of the lab; `None`: the only lab, or, for `up`, the name in the file.
    pub(crate) lab: Option<String>,
    /// The subcommand.
    pub(crate) deed: LabCommand,
}

/// A subcommand of `lab`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LabCommand {
    /// Checks the file without creating anything.
    Check {
        /// The topology file.
        file: PathBuf,
        /// Output format.
        format: FileFormat,
    },
    /// Brings a lab up.
    Up {
        /// The topology file.
        file: PathBuf,
    },
    /// Runs a load test from the load hosts of a lab.
    Run {
        /// The topology file.
        file: PathBuf,
        /// The run.
        args: Box<RunArgs>,
    },
    /// Shows the state of labs.
    Status {
        /// Output format.
        format: FileFormat,
    },
    /// Runs a command in a host.
    Exec {
        /// The host.
        host: String,
        /// The command; never empty.
        words: Vec<OsString>,
    },
    /// Prints the logs of services.
    Logs {
        /// The host.
        host: String,
        /// The service; `None`: all services of the host.
        service: Option<String>,
        /// Whether to follow the log.
        follow: bool,
    },
    /// Shows or changes the servers of a host's balancers.
    Pool {
        /// The host.
        host: String,
        /// What to do.
        ask: PoolCommand,
        /// Output format.
        format: FileFormat,
    },
    /// Injects or reverts a fault.
    Fault {
        /// The host.
        host: String,
        /// The fault to inject, or the number of the fault to revert.
        what: FaultCommand,
    },
    /// Removes the lab.
    Down,
}

/// What `pool` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PoolCommand {
    /// Shows all servers of the host, or those of this service.
    Show(Option<String>),
    /// Changes one server, as the text says.
    Change(String),
}

impl PoolCommand {
    /// Returns the service that it names first, if it names one.
    pub(crate) fn service(&self) -> Option<&str> {
        match self {
            Self::Show(service) => service.as_deref(),
            Self::Change(text) => text.split_whitespace().next(),
        }
    }
}

/// What `fault` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultCommand {
    /// Injects the fault that the text describes, for this duration; `None`: until it is reverted
    /// or the lab is down.
    Begin(String, Option<Nanos>),
    /// Reverts the fault with this number.
    End(u64),
}

impl FaultCommand {
    /// Returns the service that a fault such as `kill nginx` acts on.
    pub(crate) fn service(&self) -> Option<&str> {
        let Self::Begin(text, _) = self else { return None };
        let mut words = text.split_whitespace();
        let on_service = matches!(words.next(), Some("kill" | "stop" | "pause" | "slow" | "files"));
        words.next().filter(|_| on_service)
    }
}
