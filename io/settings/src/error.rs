//! [`SettingsError`]: why a file or value could not be changed.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file or value could not be changed.
#[derive(Debug)]
pub enum SettingsError {
    /// A value or file could not be written. What had been written before it was restored.
    Rejected {
        /// What it is: a key or a path.
        what: String,
        /// The value that was written.
        value: String,
        /// The kernel's reason.
        reason: io::Error,
        /// What could not be restored, each with its reason; empty in almost all cases.
        unrestored: Vec<String>,
    },
    /// The journal could not be read or written, so nothing was changed.
    Journal {
        /// Its path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Another doctor is changing this host.
    Busy,
}

impl SettingsError {
    pub(crate) fn journal(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Journal { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected { what, value, reason, .. } => {
                write!(f, "cannot set {what} to `{value}`: {reason}")
            }
            Self::Journal { path, reason } => {
                write!(f, "cannot use the journal {}: {reason}", path.display())
            }
            Self::Busy => write!(f, "another wavetank doctor is changing this host"),
        }
    }
}

impl std::error::Error for SettingsError {}
