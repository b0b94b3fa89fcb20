//! [`RunsDir`]: the folder that holds the archives of all runs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use wavetank_record::{ForeignEntryDoc, ForeignEntryKind, WallTime};
use wavetank_units::{Code, UserError, sanitize};

use crate::RunEntry;
use crate::folder_name::sanitized;
use crate::net_folder::NET_RESULT;
use crate::search_marker::{ANSWER, has_no_result};
use crate::store_problem::os_error_text;

/// File name extension of a packed run.
pub const PACK_SUFFIX: &str = "wtrun";
/// Name prefix of a run that is being removed.
pub(crate) const REMOVED_PREFIX: &str = ".wavetank-removed-";

/// The folder that holds archives, each named `<UTC yyyymmddThhmmssZ>-<name>-<id>`. It does not
/// need to exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDir {
    path: PathBuf,
}

/// The entries of the runs directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// All archives, oldest first.
    pub runs: Vec<RunEntry>,
    /// Everything else, by name.
    pub foreign: Vec<ForeignEntryDoc>,
}

impl RunsDir {
    /// The runs directory at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the run called `name` with `id` that started at `started`.
    pub fn folder(&self, started: WallTime, name: &str, id: &str) -> PathBuf {
        self.path.join(format!("{}-{}-{}", started.folder_stamp(), sanitized(name), sanitized(id)))
    }

    /// Returns all archives, oldest first, and all other entries. Both are empty if the directory
    /// does not exist.
    ///
    /// # Errors
    /// A usage error `runs_unreadable` if the directory exists and cannot be read.
    pub fn list(&self) -> Result<Listing, UserError> {
        let mut listing = Listing::default();
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(self.unreadable(&error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| self.unreadable(&error))?.path();
            match RunEntry::new(&path).filter(|_| path.is_dir()) {
                Some(run) if !is_removed(&run.folder) => listing.runs.push(run),
                _ => listing.foreign.push(classify_foreign(&path)),
            }
        }
        listing.runs.sort_by(|a, b| a.order().cmp(&b.order()));
        listing.foreign.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// Checks that the directory exists.
    ///
    /// # Errors
    /// A usage error `runs_unreadable` if it does not exist.
    pub fn require_exists(&self) -> Result<(), UserError> {
        fs::metadata(&self.path).map(drop).map_err(|error| self.unreadable(&error))
    }

    /// Returns the directory's path, safe to print.
    pub(crate) fn display(&self) -> String {
        sanitize(&self.path.to_string_lossy()).into_owned()
    }

    fn unreadable(&self, error: &io::Error) -> UserError {
        let (why, hint) = match error.kind() {
            io::ErrorKind::NotADirectory => {
                ("it is a file, not a folder".to_owned(), "name the runs directory with `--runs-dir DIR`")
            }
            io::ErrorKind::PermissionDenied => (
                os_error_text(error),
                "ask its owner for permission to read it, or name another one with `--runs-dir DIR`",
            ),
            _ => (os_error_text(error), "check the path, or name another one with `--runs-dir DIR`"),
        };
        let message = format!("cannot read the runs directory `{}`: {why}", self.display());
        UserError::usage(Code::RunsUnreadable, message, hint)
    }
}

/// Classifies `path`, which is not an archive.
fn classify_foreign(path: &Path) -> ForeignEntryDoc {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let kind = if path.is_dir() {
        if is_removed(&name) {
            ForeignEntryKind::Removed
        } else if path.join(ANSWER).exists() || has_no_result(path) {
            ForeignEntryKind::Search
        } else if path.join(NET_RESULT).is_file() {
            ForeignEntryKind::Net
        } else {
            ForeignEntryKind::Other
        }
    } else if path.extension().is_some_and(|extension| extension == PACK_SUFFIX) && path.is_file() {
        ForeignEntryKind::Pack
    } else {
        ForeignEntryKind::Other
    };
    ForeignEntryDoc { name, kind }
}

/// Returns whether a folder is a run with an interrupted removal.
pub(crate) fn is_removed(folder: &str) -> bool {
    folder.starts_with(REMOVED_PREFIX)
}
