//! [`LineFile`]: a file to which only complete lines are appended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::StoreProblem;

/// An append-only file of lines. A partly written line is removed again, so that writing continues
/// after the last good line once the disk has room.
pub(crate) struct LineFile {
    path: PathBuf,
    /// Opened at the first line.
    file: Option<File>,
    /// Bytes of whole lines written so far.
    good_bytes: u64,
    /// A torn line could not be removed yet.
    torn: bool,
}

impl LineFile {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, good_bytes: 0, torn: false }
    }

    /// Continues `file`, which is open for appending and has `good_bytes` bytes of whole lines.
    pub(crate) fn with_file(path: &Path, file: File, good_bytes: u64) -> Self {
        Self { path: path.to_owned(), file: Some(file), good_bytes, torn: false }
    }

    /// Bytes of whole lines, so the place of the next one.
    pub(crate) const fn bytes(&self) -> u64 {
        self.good_bytes
    }

    /// Whether it has a line already.
    pub(crate) const fn is_begun(&self) -> bool {
        self.file.is_some()
    }

    /// Appends `line`, which has no newline.
    pub(crate) fn append(&mut self, mut line: String) -> Result<(), StoreProblem> {
        line.push('\n');
        let written = self.write(line.as_bytes());
        written.map_err(|error| StoreProblem::new(&self.path, error))
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), StoreProblem> {
        let Some(file) = &self.file else { return Ok(()) };
        file.sync_data().map_err(|error| StoreProblem::new(&self.path, error))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty.insert(OpenOptions::new().create(true).append(true).open(&self.path)?),
        };
        if self.torn {
            file.set_len(self.good_bytes)?;
            self.torn = false;
        }
        if let Err(error) = file.write_all(bytes) {
            self.torn = file.set_len(self.good_bytes).is_err();
            return Err(error);
        }
        self.good_bytes += bytes.len() as u64;
        Ok(())
    }
}
