//! [`Watch`]: starts the load and takes samples until its last socket is gone.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::memory::{Added, Memory};
use super::part::{SOURCES, Scene};
use super::run_report::RunReport;
use super::snapshot::{Snapshot, Used};
use super::target_poller::TargetPoller;
use crate::child;
use crate::cpus;
use crate::namespace::{Namespace, SocketCounts};
use crate::process;
use crate::server::Server;
use crate::session::Session;
use crate::stopwatch::Stopwatch;

/// Milliseconds between two samples.
const LOOK_MILLIS: i64 = 200;
/// Seconds between two samples of the kernel's memory, since reading it locks each cache.
const MEMORY_S: f64 = 10.0;
/// Longest time until the sockets are gone after the end of the load, in seconds.
const GONE_S: f64 = 60.0;
/// Number of remaining sockets above which they are not listed one by one.
const LISTED_MAX: u64 = 100_000;

/// Waits until no socket of a part is left in the namespace. That includes the sockets of killed
/// programs, which the kernel closes after the programs are gone.
pub(super) fn until_gone(namespace: &Namespace) -> Result<()> {
    let watch = Stopwatch::start();
    while namespace.sockets()? > 0 && watch.elapsed().as_secs_f64() < GONE_S {
        child::pause(LOOK_MILLIS)?;
    }
    Ok(())
}

/// Observes one part.
pub(super) struct Watch<'a> {
    pub(super) session: &'a Session,
    pub(super) namespace: &'a Namespace,
    pub(super) server: &'a Server,
    pub(super) scene: &'a Scene,
}

/// The observations.
pub(super) struct Watched {
    pub(super) looks: Vec<Snapshot>,
    /// Growth of the kernel's memory while all connections were held, the largest of several
    /// samples.
    pub(super) memory: Option<Added>,
    /// Resident memory before the first connection, of the load and of the target.
    pub(super) resident_before: (u64, u64),
    /// The report of `run`.
    pub(super) said: RunReport,
    /// Sockets that were left after the end of the load, while the target was still running.
    pub(super) left: Left,
}

/// Sockets that are left, in excess of those before the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Sockets of the load's source network, in any state, at either end.
    pub(super) of_sources: u64,
    /// Additional sockets in use in the namespace.
    pub(super) in_use: u64,
    /// Additional sockets in TIME-WAIT in the namespace.
    pub(super) lingering: u64,
    /// Additional sockets on the whole machine, including those of other programs.
    pub(super) allocated: u64,
}

impl Watch<'_> {
    /// Observes from the start of the load until the last socket is gone, or until the time limit
    /// of the scene.
    pub(super) fn run(&self, words: &[String]) -> Result<Watched> {
        let mut asker = TargetPoller::to(self.server.address())?;
        let target_before = asker.standing()?;
        let before = self.namespace.socket_counts()?;
        let memory_before = Memory::now()?;
        let server_before = Used::for_pids(&self.server.processes()).resident;
        let mut load = Load::start(self.session, words)?;
        let client_before = process::resident_bytes(&[load.child.id()]);
        let watch = Stopwatch::start();
        let mut looks: Vec<Snapshot> = Vec::new();
        let (mut memory, mut memory_at) = (None::<Added>, -MEMORY_S);
        loop {
            let ended = child::ends_within(&load.child, LOOK_MILLIS)?;
            let look = self.look(&mut asker, watch, before, &load)?;
            looks.push(look);
            if look.kernel >= self.scene.connections as u64 && look.at_s - memory_at >= MEMORY_S {
                memory_at = look.at_s;
                let added = Memory::now()?.added_since(&memory_before);
                memory = memory.into_iter().chain([added]).max_by_key(|added| added.slabs);
            }
            if ended {
                break;
            }
            if look.at_s > self.scene.limit_s() as f64 {
                bail!("the load did not end within {} s: {}", self.scene.limit_s(), load.talk());
            }
        }
        let said = load.said()?;
        let ended_s = watch.elapsed().as_secs_f64();
        while looks.last().is_some_and(|look| look.kernel > 0 && look.at_s < ended_s + GONE_S) {
            child::pause(LOOK_MILLIS)?;
            looks.push(self.look(&mut asker, watch, before, &load)?);
        }
        let left = self.left(before)?;
        // Connections accepted before the load, such as the check whether the target accepts, do
        // not count.
        for look in &mut looks {
            look.target.accepted -= target_before.accepted.min(look.target.accepted);
        }
        Ok(Watched { looks, memory, resident_before: (client_before, server_before), said, left })
    }

    /// Takes a sample: first the kernel's counts, then immediately the target's, so that both
    /// belong to nearly the same instant.
    fn look(
        &self,
        asker: &mut TargetPoller,
        watch: Stopwatch,
        before: SocketCounts,
        load: &Load,
    ) -> Result<Snapshot> {
        let at_s = watch.elapsed().as_secs_f64();
        let sockets = self.namespace.socket_counts()?;
        let target = asker.standing()?;
        Ok(Snapshot {
            at_s,
            kernel: sockets.in_use.saturating_sub(before.in_use) / 2,
            answers: target.answers,
            target,
            client: Used::for_pids(&process::family(load.child.id())),
            server: Used::for_pids(&self.server.processes()),
            machine_s: process::machine_busy_s(),
        })
    }

    fn left(&self, before: SocketCounts) -> Result<Left> {
        let after = self.namespace.socket_counts()?;
        let all = after.in_use + after.lingering;
        let of_sources = if all <= LISTED_MAX { self.namespace.sockets_of(SOURCES)? } else { all };
        Ok(Left {
            of_sources,
            in_use: after.in_use.saturating_sub(before.in_use),
            lingering: after.lingering.saturating_sub(before.lingering),
            allocated: after.allocated.saturating_sub(before.allocated),
        })
    }
}

/// The running load. Dropping it kills the process.
struct Load {
    child: Child,
    stdout: std::path::PathBuf,
    stderr: std::path::PathBuf,
}

impl Load {
    fn start(session: &Session, words: &[String]) -> Result<Self> {
        let folder = session.folder.path();
        let [stdout, stderr] = ["million.json", "million.log"].map(|name| folder.join(name));
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null());
        command.stdout(File::create(&stdout).context("million.json")?);
        command.stderr(File::create(&stderr).context("million.log")?);
        let child = cpus::spawn_on(session.cpus.generator, &mut command)?;
        Ok(Self { child, stdout, stderr })
    }

    /// Waits for its end and returns its report.
    fn said(&mut self) -> Result<RunReport> {
        let status = self.child.wait().context("waiting")?;
        let text = std::fs::read_to_string(&self.stdout).unwrap_or_default();
        // Exit codes 1, 3 and 4 mean that the run completed. The verdict is printed, not judged
        // here.
        if !matches!(status.code(), Some(0 | 1 | 3 | 4)) {
            bail!("the load ended with {status}: {} {}", self.talk(), first_line(&text));
        }
        RunReport::read(&text)
    }

    fn talk(&self) -> String {
        let text = std::fs::read_to_string(&self.stderr).unwrap_or_default();
        text.trim().lines().take(8).collect::<Vec<_>>().join(" | ")
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default()
}
