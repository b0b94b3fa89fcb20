//! [`HostFileWriter`]: the file with the samples of one host.

use std::fs;
use std::path::{Path, PathBuf};

use wavetank_measure::HostSample;
use wavetank_record::HostLineEncoder;

use crate::StoreProblem;
use crate::line_file::LineFile;

/// See the module's description.
pub(crate) struct HostFileWriter {
    folder: PathBuf,
    file: LineFile,
    encoder: HostLineEncoder,
}

impl HostFileWriter {
    /// Returns the writer of `hosts/STEM.jsonl` in the archive `dir`.
    pub(crate) fn new(dir: &Path, stem: &str) -> Self {
        let folder = dir.join("hosts");
        let file = LineFile::new(&folder.join(format!("{stem}.jsonl")));
        Self { folder, file, encoder: HostLineEncoder::default() }
    }

    /// Appends a sample. The folder is created with the first one.
    pub(crate) fn append(&mut self, sample: &HostSample) -> Result<(), StoreProblem> {
        if !self.file.is_begun() {
            fs::create_dir_all(&self.folder).map_err(|error| StoreProblem::new(&self.folder, error))?;
        }
        let appended = self.file.append(self.encoder.encode(sample));
        if appended.is_err() {
            self.encoder.forget();
        }
        appended
    }

    /// Waits until everything is on the disk.
    pub(crate) fn sync(&mut self) -> Result<(), StoreProblem> {
        self.file.sync()
    }
}
