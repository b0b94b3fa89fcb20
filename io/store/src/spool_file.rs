//! [`SpoolFile`]: a spool as other programs than its agent see it.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use wavetank_fleet::{Adjustments, EndCause, RunId};

use crate::file_access::{open_file, sync_dir};
use crate::found_spool::{ENTRIES_MAX, Scan, run_of};
use crate::spool::{PREFIX, SUFFIX, SpoolMeta};

/// A spool, read without taking it from its agent, which may still write to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolFile {
    /// The file.
    pub path: PathBuf,
    /// The run, from the file's name.
    pub run: RunId,
    /// Whether a process has it open. Without locks on this file system: false.
    pub is_open: bool,
    /// The content; `None` if it is no spool of this run and version.
    pub content: Option<SpoolContent>,
}

/// The content of a spool up to its last whole line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpoolContent {
    /// Its run and agent.
    pub meta: SpoolMeta,
    /// Bytes of whole lines.
    pub bytes: u64,
    /// One more than the number of the last interval.
    pub intervals: u64,
    /// How many numbers below it have no line.
    pub unstored: u64,
    /// Lines that cannot be read.
    pub damaged: u64,
    /// SHA-256 over the lines of intervals, each with its newline, in hexadecimal.
    pub digest: String,
    /// How the agent ended; `None` if it has not written its end.
    pub cause: Option<EndCause>,
    /// Changes and new shares that the agent received.
    pub adjustments: Adjustments,
}

impl SpoolFile {
    /// Returns the spools in the folder `dir`, by run. A missing folder has none.
    ///
    /// # Errors
    /// The folder or a spool could not be read.
    pub fn list(dir: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut spools = Vec::new();
        for entry in entries.take(ENTRIES_MAX) {
            let entry = entry?;
            // A link could lead out of the folder.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if let Some(run) = entry.file_name().to_str().and_then(run_of).filter(|_| is_file) {
                spools.push(Self::read(entry.path(), run)?);
            }
        }
        spools.sort_by_key(|spool| spool.run);
        Ok(spools)
    }

    /// Returns the spool of `run` in the folder `dir`; `None` if there is none.
    ///
    /// # Errors
    /// The file could not be read.
    pub fn find(dir: &Path, run: RunId) -> io::Result<Option<Self>> {
        let path = dir.join(format!("{PREFIX}{}{SUFFIX}", run.0));
        match Self::read(path, run) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn read(path: PathBuf, run: RunId) -> io::Result<Self> {
        let file = open_file(&path)?;
        let is_open = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
        let mut scan = Scan::default();
        let bytes = scan.read(BufReader::with_capacity(1 << 16, &file))?;
        let (digest, damaged, cause) = (scan.digest.hex(), scan.damaged, scan.cause);
        let (places, adjustments) = (scan.places, scan.adjustments);
        let content = scan.meta.filter(|meta| meta.run == run).map(|meta| SpoolContent {
            meta,
            bytes,
            intervals: places.len() as u64,
            unstored: places.iter().filter(|place| place.is_none()).count() as u64,
            damaged,
            digest,
            cause,
            adjustments,
        });
        Ok(Self { path, run, is_open, content })
    }

    /// Opens the file for reading from its start.
    ///
    /// # Errors
    /// The file could not be opened.
    pub fn open(&self) -> io::Result<File> {
        open_file(&self.path)
    }

    /// Removes the file, and waits until that is on the disk.
    ///
    /// # Errors
    /// The file could not be removed.
    pub fn delete(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        let folder = self.path.parent().map_or(Ok(()), sync_dir);
        folder.map_err(|problem| problem.source)
    }
}
