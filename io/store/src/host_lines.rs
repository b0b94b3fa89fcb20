//! Reading back how hosts stood, line by line.

use std::path::Path;

use wavetank_plan::UserError;
use wavetank_record::HostLine;

use crate::OpenedRun;
use crate::opened_run::for_each_line;
use crate::over_time::line_files;

/// Samples of the host that the run's clock is of.
const THIS_HOST: &str = "local.jsonl";

impl OpenedRun {
    /// Hand every sample of the host that the run's clock is of to `visit`, in order. Returns how many lines cannot be
    /// read, be they damaged or of another version.
    ///
    /// # Errors
    /// A usage error if the file cannot be read at all.
    pub fn read_hosts(&self, visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
        read_host(&self.dir.join("hosts").join(THIS_HOST), visit)
    }

    /// Hand every sample of other hosts, those of a lab, to `visit` with the host's name; those of one host in order.
    /// Returns how many lines cannot be read.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_others(&self, mut visit: impl FnMut(&str, HostLine)) -> Result<u64, UserError> {
        let mut damaged = 0;
        for path in line_files(&self.dir.join("hosts"))? {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.file_name().is_some_and(|file| file != THIS_HOST) {
                damaged += read_host(&path, |line| visit(&name, line))?;
            }
        }
        Ok(damaged)
    }
}

/// Hands every line of one host's file to `visit`; returns how many cannot be read.
fn read_host(path: &Path, mut visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
    let mut damaged = 0;
    for_each_line(path, |line| match HostLine::decode(line) {
        Ok(line) => visit(line),
        Err(_) => damaged += 1,
    })?;
    Ok(damaged)
}
