//! Access to the files of an archive: their limits, opening, locks, and writing that survives a
//! power failure.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use wavetank_units::UserError;

use crate::StoreProblem;
use crate::contents::unreadable;

/// Bytes of one line at most: 4,096 series with all their histograms stay well below it.
pub(crate) const LINE_BYTES_MAX: u64 = 256 << 20;

/// Maximum length read of `run.json` and `plan.yaml`, in bytes.
pub(crate) const TEXT_BYTES_MAX: u64 = 256 << 20;

/// Opens a file of an archive. Pipes are rejected, since opening one blocks until a process writes
/// to it.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// The text of a small file; `None` if there is no such file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, UserError> {
    let read = open_file(path).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).map(|_| bytes)
    });
    match read {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Writes and syncs a small file.
pub(crate) fn write_atomic(path: &Path, text: &str) -> Result<(), StoreProblem> {
    let write = || -> io::Result<()> {
        let mut file = File::create(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().map_err(|error| StoreProblem::new(path, error))
}

/// Syncs a folder. The names of new files are safe only after that.
pub(crate) fn sync_dir(path: &Path) -> Result<(), StoreProblem> {
    File::open(path).and_then(|dir| dir.sync_all()).map_err(|error| StoreProblem::new(path, error))
}

/// Returns whether a process is writing to the archive at `dir`. Its writer holds a lock on the
/// plan, which ends with the process in any case. On a file system without locks, the archive
/// counts as not being written.
pub(crate) fn is_locked(dir: &Path) -> bool {
    let Ok(plan) = open_file(&dir.join("plan.yaml")) else { return false };
    // The lock taken here is released with the file, at the end of this function.
    matches!(plan.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Like [`is_locked`] for the folder of a search, where the writer locks the folder itself.
pub(crate) fn is_dir_locked(dir: &Path) -> bool {
    // If a folder cannot be opened, no search can write to it either.
    File::open(dir).is_ok_and(|dir| matches!(dir.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
