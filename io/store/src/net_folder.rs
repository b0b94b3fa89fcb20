//! [`NetFolder`]: the folder with the measurements of a network.

use std::fs;
use std::path::{Path, PathBuf};

use wavetank_record::{NetDoc, WallTime};
use wavetank_units::{Code, UserError, sanitize};

use crate::file_access::{read_text, sync_dir, write_atomic};
use crate::{RunsDir, StoreProblem};

/// The file with the result. Its presence makes a folder one of network measurements.
pub(crate) const NET_RESULT: &str = "net.json";
/// Its name while it is being written.
const PARTIAL: &str = "net.json.partial";

/// The folder of network measurements in the runs directory, named like that of a run. It contains
/// `net.json`.
#[derive(Debug)]
pub struct NetFolder {
    dir: PathBuf,
}

impl NetFolder {
    /// Stores a result in a folder of its own.
    ///
    /// # Errors
    /// The folder cannot be created, or the result cannot be written and synced.
    pub fn store(runs: &RunsDir, started: WallTime, doc: &NetDoc) -> Result<Self, StoreProblem> {
        let dir = runs.folder(started, &doc.name, &doc.id);
        fs::create_dir_all(&dir).map_err(|error| StoreProblem::new(&dir, error))?;
        let (partial, whole) = (dir.join(PARTIAL), dir.join(NET_RESULT));
        write_atomic(&partial, &(doc.to_json() + "\n"))?;
        fs::rename(&partial, &whole).map_err(|error| StoreProblem::new(&whole, error))?;
        sync_dir(&dir)?;
        sync_dir(runs.path())?;
        Ok(Self { dir })
    }

    /// Opens the measurements in the folder `dir`; `None` if it has none.
    pub fn open(dir: &Path) -> Option<Self> {
        dir.join(NET_RESULT).is_file().then(|| Self { dir: dir.to_owned() })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Reads the result.
    ///
    /// # Errors
    /// A usage error if it cannot be read, is damaged, or has an unknown version.
    pub fn read(&self) -> Result<NetDoc, UserError> {
        let path = self.dir.join(NET_RESULT);
        let damaged = |why: String| {
            let message = format!("`{}`: {why}", sanitize(&path.to_string_lossy()));
            UserError::usage(Code::NetDamaged, message, "measure again: wavetank net HOST")
        };
        let text = read_text(&path)?.ok_or_else(|| damaged("it is gone".to_owned()))?;
        NetDoc::from_json(&text).map_err(|error| damaged(error.to_string()))
    }
}
