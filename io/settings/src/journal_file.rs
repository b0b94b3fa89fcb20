//! [`JournalFile`]: the journal on the disk.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use wavetank_tuning::Journal;

use crate::SettingsError;
use crate::write::{read_text, sync_folder, write_file};

/// Where the journal is.
const FOLDER: &str = "var/lib/wavetank/doctor";

/// The journal on the disk. While it is open, no other process changes the host.
#[derive(Debug)]
pub struct JournalFile {
    path: PathBuf,
    /// Locked by flock(2) until it is dropped.
    lock: File,
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        // A child started meanwhile by another thread shares the lock until it calls exec.
        let _ = flock(&self.lock, FlockOperation::Unlock);
    }
}

impl JournalFile {
    /// Returns the path of the journal below `root`.
    pub fn path_below(root: &Path) -> PathBuf {
        root.join(FOLDER).join("journal.json")
    }

    /// Opens the journal below `root`.
    ///
    /// # Errors
    /// A folder that cannot be made, or another process with the journal open.
    pub fn open(root: &Path) -> Result<Self, SettingsError> {
        let path = Self::path_below(root);
        let folder = root.join(FOLDER);
        let failed = |error| SettingsError::journal(&path, error);
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { path, lock }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(SettingsError::Busy),
            Err(errno) => Err(SettingsError::journal(&path, errno)),
        }
    }

    /// Reads the journal; `None` if nothing was changed.
    ///
    /// # Errors
    /// A journal that is damaged or cannot be read.
    pub fn read(&self) -> Result<Option<Journal>, SettingsError> {
        let failed = |error: &dyn std::fmt::Display| SettingsError::journal(&self.path, error);
        let text = read_text(&self.path).map_err(|error| failed(&error))?;
        text.map(|text| Journal::parse(&text)).transpose().map_err(|error| failed(&error))
    }

    /// Replaces the journal; it is on the disk when this returns.
    pub(crate) fn write(&self, journal: &Journal) -> Result<(), SettingsError> {
        write_file(&self.path, &journal.to_text()).map_err(|error| SettingsError::journal(&self.path, error))
    }

    /// Removes the journal, as everything was restored.
    pub(crate) fn remove(&self) -> Result<(), SettingsError> {
        fs::remove_file(&self.path)
            .and_then(|()| sync_folder(&self.path))
            .map_err(|error| SettingsError::journal(&self.path, error))
    }
}
