//! [`SearchFolder`]: where a search keeps its answer and its runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use wavetank_plan::{UserError, sanitize};
use wavetank_record::{SearchDoc, WallTime};

use crate::archive_writer::{sync_dir, write_atomic};
use crate::opened_run::{newer, read_text};
use crate::run_entry::timestamp;
use crate::{RunsDir, StoreProblem};

/// The answer in it.
pub(crate) const ANSWER: &str = "search.json";
/// The same while it is being written.
pub(crate) const PARTIAL: &str = "search.json.partial";
/// Archives of its runs.
pub(crate) const RUNS: &str = "runs";

/// A folder in the runs directory, named as an archive's is, with `search.json` and a runs directory of its own.
#[derive(Debug)]
pub struct SearchFolder {
    dir: PathBuf,
    /// The folder, locked for as long as the search is under way: that is how others see that somebody writes here.
    held: Option<File>,
}

impl Drop for SearchFolder {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            // Load threads may have a copy of the file in tables of their own; this lets go for all of them.
            let _ = held.unlock();
        }
    }
}

impl SearchFolder {
    /// Makes the folder.
    ///
    /// # Errors
    /// Where it cannot be made, or is there already.
    pub fn create(runs: &RunsDir, started: WallTime, name: &str, id: &str) -> Result<Self, StoreProblem> {
        let dir = runs.folder(started, name, id);
        fs::create_dir_all(runs.path()).map_err(|error| StoreProblem::new(runs.path(), error))?;
        fs::create_dir(&dir).map_err(|error| StoreProblem::new(&dir, error))?;
        sync_dir(runs.path())?;
        // Some file systems lock no folders: there, what was written a moment ago is left alone.
        let held = File::open(&dir).ok().filter(|held| held.try_lock().is_ok());
        Ok(Self { dir, held })
    }

    /// The search's folder at `dir`; `None` if it is none.
    pub fn open(dir: &Path) -> Option<Self> {
        dir.join(ANSWER).is_file().then(|| Self { dir: dir.to_owned(), held: None })
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Where its runs are archived.
    pub fn runs(&self) -> RunsDir {
        RunsDir::new(self.dir.join(RUNS))
    }

    /// Writes the answer so far in place of the one before: whole or not at all.
    ///
    /// # Errors
    /// Where it cannot be made safe on the disk.
    pub fn write(&self, doc: &SearchDoc) -> Result<(), StoreProblem> {
        let (partial, whole) = (self.dir.join(PARTIAL), self.dir.join(ANSWER));
        let written = write_atomic(&partial, &(doc.to_json() + "\n"))
            .and_then(|()| fs::rename(&partial, &whole).map_err(|error| StoreProblem::new(&whole, error)));
        if let Err(problem) = written {
            // Only tidiness: without its final name the file means nothing.
            let _ = fs::remove_file(&partial);
            return Err(problem);
        }
        sync_dir(&self.dir)
    }

    /// Reads the answer.
    ///
    /// # Errors
    /// A usage error where it cannot be read, is damaged, or of a version that is not known.
    pub fn read(&self) -> Result<SearchDoc, UserError> {
        let path = self.dir.join(ANSWER);
        let shown = sanitize(&path.to_string_lossy()).into_owned();
        let damaged = |why: String| {
            UserError::usage(
                "search_damaged",
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

/// Whether the folder at `dir` is a search's without an answer: before its first one it has its runs only.
pub(crate) fn has_no_result(dir: &Path) -> bool {
    // `.` and `..` have a name only once they are resolved.
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let named = dir.file_name().or_else(|| whole.file_name()).unwrap_or_default().to_string_lossy();
    timestamp(&named).is_some()
        && dir.join(RUNS).is_dir()
        && [ANSWER, "run.json", "plan.yaml"].iter().all(|name| dir.join(name).symlink_metadata().is_err())
}
