//! [`LabArgs`]: what `wavetank lab` shall do, every word understood.

use std::ffi::OsString;
use std::path::PathBuf;

use super::args::FileFormat;

/// `wavetank lab`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabArgs {
    /// Which lab; `None`: the only one, or, for `up`, the one the file names.
    pub(crate) lab: Option<String>,
    /// What is done with it.
    pub(crate) deed: LabDeed,
}

/// What is done with a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LabDeed {
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
    },
    /// Taken down.
    Down,
}
