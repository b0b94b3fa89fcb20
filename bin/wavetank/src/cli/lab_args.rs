//! [`LabArgs`]: what `wavetank lab` shall do, every word understood.

use std::ffi::OsString;
use std::path::PathBuf;

use wavetank_plan::Nanos;

use super::args::{FileFormat, RunArgs};

/// `wavetank lab`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabArgs {
    /// Which lab; `None`: the only one, or, for `up`, the one the file names.
    pub(crate) lab: Option<String>,
    /// What is done with it.
    pub(crate) deed: LabCommand,
}

/// What is done with a lab.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LabCommand {
    /// Its file is checked, and nothing is created.
    Check {
        /// The topology file.
        file: PathBuf,
        /// Shape of the answer.
        format: FileFormat,
    },
    /// Brought up.
    Up {
        /// The topology file.
        file: PathBuf,
    },
    /// Brought up for a run from its load hosts.
    Run {
        /// The topology file.
        file: PathBuf,
        /// The run.
        args: Box<RunArgs>,
    },
    /// Looked at.
    Status {
        /// Shape of the answer.
        format: FileFormat,
    },
    /// A command is run in one of its hosts.
    Exec {
        /// The host.
        host: String,
        /// The command; never empty.
        words: Vec<OsString>,
    },
    /// What services wrote is shown.
    Logs {
        /// The host.
        host: String,
        /// The service; `None`: all of the host's.
        service: Option<String>,
        /// Whether what is written from now on is shown, too.
        follow: bool,
    },
    /// The servers behind a host's balancers are shown, or take more or fewer connections.
    Pool {
        /// The host.
        host: String,
        /// What is wanted.
        ask: PoolCommand,
        /// Shape of the answer.
        format: FileFormat,
    },
    /// Something goes wrong in it on purpose.
    Fault {
        /// The host.
        host: String,
        /// The fault in words, or the number of the one that is taken back.
        what: FaultCommand,
    },
    /// Taken down.
    Down,
}

/// What is wanted of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PoolCommand {
    /// To see those of the host, or the one of this service.
    Show(Option<String>),
    /// To change one: its words.
    Change(String),
}

/// What is done with a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultCommand {
    /// It begins: its words, and how long it lasts; `None`: until it is taken back or the lab is down.
    Begin(String, Option<Nanos>),
    /// The one of this number is taken back.
    End(u64),
}
