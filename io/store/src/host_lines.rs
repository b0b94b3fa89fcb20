//! Reads the samples of hosts, line by line.

use std::path::{Path, PathBuf};

use wavetank_record::{HostLine, HostLineDecoder, IntervalExtras};
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

    /// Passes every sample of the other hosts to `visit` with the host's name: hosts of a lab,
    /// hosts under test, and those of a fleet's agents. The samples of one host are in order.
    /// Returns how many lines cannot be read.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_others(&self, mut visit: impl FnMut(&str, HostLine)) -> Result<u64, UserError> {
        let mut damaged = 0;
        for file in self.host_files()?.iter().filter(|file| !file.is_of_this_host()) {
            damaged += file.read(|line| visit(&file.name, line))?;
        }
        Ok(damaged)
    }

    /// Returns the files with samples of hosts.
    pub(crate) fn host_files(&self) -> Result<Vec<HostFile>, UserError> {
        let files = |folder: &str, is_of_agent| -> Result<Vec<HostFile>, UserError> {
            let paths = line_files(&self.dir.join(folder))?;
            Ok(paths.into_iter().map(|path| HostFile { name: stem(&path), path, is_of_agent }).collect())
        };
        let mut all = files("hosts", false)?;
        let mut agents = files("intervals", true)?;
        // A host that is also observed over ssh has those samples only.
        agents.retain(|agent| all.iter().all(|host| host.name != agent.name));
        all.append(&mut agents);
        Ok(all)
    }
}

/// A file with samples of one host.
pub(crate) struct HostFile {
    /// The host's name.
    pub(crate) name: String,
    path: PathBuf,
    /// Its lines are intervals of an agent, which carry the samples of its host.
    is_of_agent: bool,
}

impl HostFile {
    fn is_of_this_host(&self) -> bool {
        !self.is_of_agent && self.path.file_name().is_some_and(|file| file == THIS_HOST)
    }

    /// Passes every sample to `visit`. Returns how many lines cannot be read. Lines of intervals
    /// are counted where they are read for their counts.
    pub(crate) fn read(&self, mut visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
        if !self.is_of_agent {
            return read_host(&self.path, visit);
        }
        for_each_line(&self.path, |line| {
            let extras = IntervalExtras::decode(line).unwrap_or_default();
            extras.host_samples.into_iter().for_each(&mut visit);
        })?;
        Ok(0)
    }
}

/// Returns the name of the host with the samples at `path`.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Passes every line of one host's file to `visit`. Returns how many cannot be read.
fn read_host(path: &Path, mut visit: impl FnMut(HostLine)) -> Result<u64, UserError> {
    let (mut damaged, mut decoder) = (0, HostLineDecoder::default());
    for_each_line(path, |line| match decoder.decode(line) {
        Ok(line) => visit(line),
        Err(_) => damaged += 1,
    })?;
    Ok(damaged)
}
