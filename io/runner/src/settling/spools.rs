//! [`HostSpools`]: what the agents of the selected hosts keep.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Error, Read as _};
use std::process::{ChildStdout, Command, Stdio};

use wavetank_store::{ArchiveSettling, MergedSpool, SettleProblem};

use super::spool_list::{SPOOL_MARK, SpoolDoc, SpoolsDoc};
use super::unsettled_run::reason;

/// Bytes of a line before the spool's own, e.g. of a startup file of the shell.
const GREETING_BYTES_MAX: u64 = 64 << 10;
/// Lines before the spool's own.
const GREETING_LINES_MAX: usize = 1_000;

/// Arguments of `wavetank agent spool`, without the folder.
pub type SpoolCommand = Vec<String>;

/// The hosts of agents that keep spools, and how their spools are reached.
pub trait SpoolHosts {
    /// The names of the hosts, in order.
    fn names(&self) -> Vec<&str>;

    /// Runs commands on hosts, by their index, and returns their output, or why they failed.
    fn run(&self, commands: Vec<(usize, SpoolCommand)>) -> Vec<(usize, Result<String, String>)>;

    /// Returns the process that runs a command on a host.
    fn process(&self, host: usize, command: &SpoolCommand) -> Command;
}

/// What the agents of the selected hosts keep.
pub(super) struct HostSpools<'a> {
    hosts: &'a dyn SpoolHosts,
    /// By the name of the host: its spools, or why they are unknown.
    pub(super) listed: BTreeMap<String, Result<SpoolsDoc, String>>,
}

impl<'a> HostSpools<'a> {
    /// Looks at all hosts.
    pub(super) fn look(hosts: &'a dyn SpoolHosts) -> Self {
        let names = hosts.names();
        let commands = (0..names.len()).map(|host| (host, vec!["list".to_owned()])).collect();
        let listed = hosts.run(commands).into_iter().map(|(host, output)| {
            let unlisted = || "it did not list its spools".to_owned();
            let spools = output.and_then(|output| SpoolsDoc::from_output(&output).ok_or_else(unlisted));
            (names[host].to_owned(), spools)
        });
        let listed = listed.collect();
        Self { hosts, listed }
    }

    /// Whether an agent carries out this run now.
    pub(super) fn is_running(&self, run: u64) -> bool {
        let mut spools = self.listed.values().flatten().flat_map(|doc| &doc.spools);
        spools.any(|spool| spool.run == run && spool.running)
    }

    /// Returns the numbers of all runs with spools.
    pub(super) fn runs(&self) -> Vec<u64> {
        let mut runs: Vec<u64> =
            self.listed.values().flatten().flat_map(|doc| &doc.spools).map(|spool| spool.run).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }

    /// Returns the spool of a run on a host.
    pub(super) fn spool(&self, host: &str, run: u64) -> Option<&SpoolDoc> {
        self.listed.get(host)?.as_ref().ok()?.spools.iter().find(|spool| spool.run == run)
    }

    /// Returns the CPUs of a host; 0: unknown.
    pub(super) fn cores(&self, host: &str) -> u32 {
        self.listed.get(host).and_then(|doc| doc.as_ref().ok()).map_or(0, |doc| doc.cores)
    }

    /// Fetches a spool and merges it into an archive.
    ///
    /// # Errors
    /// Why that failed, as part of a sentence. The archive is unchanged then.
    pub(super) fn merge(
        &self,
        host: &str,
        spool: &SpoolDoc,
        archive: &mut ArchiveSettling,
    ) -> Result<MergedSpool, String> {
        let index = self.index(host).ok_or("it is not selected")?;
        let command = ["send", "--run"].map(str::to_owned).into_iter().chain([spool.run.to_string()]);
        let mut process = self.hosts.process(index, &command.collect());
        process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |error: Error| format!("cannot start a process: {error}");
        let mut process = process.spawn().map_err(failed)?;
        let stdout = process.stdout.take().expect("it is a pipe");
        let mut reader = BufReader::with_capacity(1 << 16, stdout);
        let merged = spool_bytes(&mut reader)
            .map_err(SettleProblem::Transfer)
            .and_then(|bytes| archive.merge((host, spool.epoch), &mut reader, bytes));
        // ssh ends with its output, or has nothing more to say.
        let _ = process.kill();
        let _ = process.wait();
        merged.map_err(|problem| reason(&problem))
    }

    /// Deletes spools, each with the digest of its intervals, which an archive has durably. Returns
    /// why a spool stays, by host.
    pub(super) fn delete(&self, spools: &[(String, u64, String)]) -> BTreeMap<String, String> {
        let commands = spools.iter().filter_map(|(host, run, digest)| {
            let words = ["delete", "--run", &run.to_string(), "--digest", digest].map(str::to_owned);
            Some((self.index(host)?, words.to_vec()))
        });
        let names = self.hosts.names();
        let runs = self.hosts.run(commands.collect()).into_iter();
        runs.filter_map(|(host, output)| Some((names[host].to_owned(), output.err()?))).collect()
    }

    fn index(&self, host: &str) -> Option<usize> {
        self.hosts.names().iter().position(|known| *known == host)
    }
}

/// Reads up to the line that announces a spool, and returns the spool's length in bytes.
fn spool_bytes(reader: &mut BufReader<ChildStdout>) -> Result<u64, Error> {
    for _ in 0..GREETING_LINES_MAX {
        let mut line = Vec::new();
        if reader.take(GREETING_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(bytes) = text.strip_prefix(SPOOL_MARK).and_then(|rest| rest.trim().parse().ok()) {
            return Ok(bytes);
        }
    }
    Err(Error::other("the host did not send it"))
}
