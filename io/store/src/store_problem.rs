//! [`StoreProblem`]: a disk error. The load goes on after it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use wavetank_record::{EventKind, EventLine};
use wavetank_units::{Code, Nanos, Sentence, UserError, sentence};

/// Something in the archive could not be written.
#[derive(Debug)]
pub struct StoreProblem {
    /// Path of the file that could not be written.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

impl StoreProblem {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        Self { path: path.to_owned(), source }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> &'static str {
        match self.source.kind() {
            _ if is_full(&self.source) => "free some space, or choose another place with `--runs-dir DIR`",
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "choose a writable place with `--runs-dir DIR`, or run with `--no-archive`"
            }
            _ => "choose another place with `--runs-dir DIR`, or run with `--no-archive`",
        }
    }

    /// The problem as a sentence.
    fn sentence(&self) -> Sentence {
        sentence!("cannot write `{}`: {}", self.path.display(), os_error_text(&self.source))
    }

    /// Returns the problem as an event of the run at `now`.
    pub fn event(&self, now: Nanos) -> EventLine {
        EventLine::new(now, EventKind::ArchiveFailed, self.sentence())
    }

    /// Returns the problem as a usage error, for use before a run starts.
    pub fn user_error(&self) -> UserError {
        UserError::usage(Code::ArchiveUnwritable, self.to_string(), self.hint())
    }
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}

impl std::error::Error for StoreProblem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Returns whether the disk, a quota or a file size limit is exhausted.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Returns the message of the system without Rust's `(os error 28)`.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
