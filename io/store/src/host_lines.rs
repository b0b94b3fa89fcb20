//! Reads the samples of hosts, line by line.

use std::path::Path;

use wavetank_record::HostLine;
use wavetank_units::UserError;

use crate::OpenedRun;
use crate::contents::line_files;
use crate::opened_run::for_each_line;

/// File with the samples of the host that owns the run clock.
const THIS_HOST: &str = "local.jsonl";

impl OpenedRun {
    /// Passes every sample of the host that owns the run clock to `visit`, in order. Returns how
    /// many lines cannot be read, because they are damaged or of another version.
    ///
    /// # Errors
    /// A usage error if the file cannot be read at all.
    pub fn read_hosts(&self, visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
        read_host(&self.dir.join("hosts").join(THIS_HOST), visit)
    }

    /// Passes every sample of the other hosts, those of a lab, to `visit` with the host's name. The
    /// samples of one host are in order. Returns how many lines cannot be read.
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

/// Passes every line of one host's file to `visit`. Returns how many cannot be read.
fn read_host(path: &Path, mut visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
    let mut damaged = 0;
    for_each_line(path, |line| match HostLine::decode(line) {
        Ok(line) => visit(line),
        Err(_) => damaged += 1,
    })?;
    Ok(damaged)
}
