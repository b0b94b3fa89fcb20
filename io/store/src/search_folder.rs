//! [`SearchFolder`]: the folder with a search's answer and runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use wavetank_record::{SearchDoc, WallTime};
use wavetank_units::{Code, UserError, sanitize};

use crate::archive_error::newer;
use crate::file_access::{read_text, sync_dir, write_atomic};
use crate::search_marker::{ANSWER, RUNS};
use crate::{RunsDir, StoreProblem};

/// Its name while it is being written.
pub(crate) const PARTIAL: &str = "search.json.partial";

/// The folder of a search in the runs directory, named like that of an archive. It contains
/// `search.json` and a runs directory.
#[derive(Debug)]
pub struct SearchFolder {
    dir: PathBuf,
    /// The folder, locked while the search is in progress, so that other processes can see that it
    /// is being written.
    held: Option<File>,
}

impl Drop for SearchFolder {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            // Load threads may hold a copy of the descriptor in separate descriptor tables.
            // Unlocking releases the lock for all of them.
            let _ = held.unlock();
        }
    }
}

impl SearchFolder {
    /// Creates the folder.
    ///
    /// # Errors
    /// The folder cannot be created, or exists already.
    pub fn create(runs: &RunsDir, started: WallTime, name: &str, id: &str) -> Result<Self, StoreProblem> {
        let dir = runs.folder(started, name, id);
        fs::create_dir_all(runs.path()).map_err(|error| StoreProblem::new(runs.path(), error))?;
        fs::create_dir(&dir).map_err(|error| StoreProblem::new(&dir, error))?;
        sync_dir(runs.path())?;
        // Some file systems cannot lock folders. There, only the time of the last write protects
        // the folder.
        let held = File::open(&dir).ok().filter(|held| held.try_lock().is_ok());
        Ok(Self { dir, held })
    }

    /// Opens the search in the folder `dir`; `None` if it is not a search.
    pub fn open(dir: &Path) -> Option<Self> {
        dir.join(ANSWER).is_file().then(|| Self { dir: dir.to_owned(), held: None })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Returns the runs directory with the runs of the search.
    pub fn runs(&self) -> RunsDir {
        RunsDir::new(self.dir.join(RUNS))
    }

    /// Replaces the stored answer, completely or not at all.
    ///
    /// # Errors
    /// The answer cannot be written and synced.
    pub fn write(&self, doc: &SearchDoc) -> Result<(), StoreProblem> {
        let (partial, whole) = (self.dir.join(PARTIAL), self.dir.join(ANSWER));
        let written = write_atomic(&partial, &(doc.to_json() + "\n"))
            .and_then(|()| fs::rename(&partial, &whole).map_err(|error| StoreProblem::new(&whole, error)));
        if let Err(problem) = written {
            // Clean-up only: a file without the final name is ignored.
            let _ = fs::remove_file(&partial);
            return Err(problem);
        }
        sync_dir(&self.dir)
    }

    /// Reads the answer.
    ///
    /// # Errors
    /// A usage error if it cannot be read, is damaged, or has an unknown version.
    pub fn read(&self) -> Result<SearchDoc, UserError> {
        let path = self.dir.join(ANSWER);
        let shown = sanitize(&path.to_string_lossy()).into_owned();
        let damaged = |why: String| {
            UserError::usage(
                Code::SearchDamaged,
                format!("`{shown}`: {why}"),
                "its runs can still be shown: wavetank report FOLDER/runs/NAME",
            )
        };
        let text = read_text(&path)?.ok_or_else(|| damaged("it is gone".to_owned()))?;
        SearchDoc::from_json(&text).map_err(|error| {
            if error.is_newer() {
                let folder = sanitize(&self.dir.to_string_lossy()).into_owned();
                return newer(&folder, ANSWER, &error);
            }
            damaged(error.to_string())
        })
    }
}
