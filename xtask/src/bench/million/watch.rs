//! [`Watch`]: starts the load and looks at everything until its last socket is gone.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::memory::{Added, Memory};
use super::part::{SOURCES, Scene};
use super::run_report::RunReport;
use super::snapshot::{Snapshot, Used};
use super::target_poller::TargetPoller;
use crate::bench::namespace::{Namespace, SocketCounts};
use crate::bench::server::Server;
use crate::bench::{Session, child, cpus, process};
use crate::stopwatch::Stopwatch;

/// Milliseconds between two looks.
const LOOK_MILLIS: i64 = 200;
/// Seconds between two looks at the kernel's memory, which take a lock of each cache.
const MEMORY_S: f64 = 10.0;
/// Longest that sockets may take to go once the load has ended, seconds.
const GONE_S: f64 = 60.0;
/// Sockets above which those that are left are not read one by one.
const LISTED_MAX: u64 = 100_000;

/// Waits until nothing of a part is left in the namespace, killed programs' sockets too: the kernel closes them after
/// the programs are gone.
pub(super) fn until_gone(namespace: &Namespace) -> Result<()> {
    let watch = Stopwatch::start();
    while namespace.sockets()? > 0 && watch.elapsed().as_secs_f64() < GONE_S {
        child::pause(LOOK_MILLIS)?;
    }
    Ok(())
}

/// Who looks.
pub(super) struct Watch<'a> {
    pub(super) session: &'a Session,
    pub(super) namespace: &'a Namespace,
    pub(super) server: &'a Server,
    pub(super) scene: &'a Scene,
}

/// What was seen.
pub(super) struct Watched {
    pub(super) looks: Vec<Snapshot>,
    /// What the kernel had taken for connections while all were held: the largest of several looks.
    pub(super) memory: Option<Added>,
    /// What each program had resident when no connection was open: the load's, the target's.
    pub(super) resident_before: (u64, u64),
    /// What `run` said of itself.
    pub(super) said: RunReport,
    /// What was left once the load had ended; the target was still there.
    pub(super) left: Left,
}

/// Sockets that are left beside those of before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Of the network that the load came from, in whatever state, at either end.
    pub(super) of_sources: u64,
    /// More than before, in the namespace.
    pub(super) in_use: u64,
    /// More than before, in the namespace.
    pub(super) lingering: u64,
    /// More than before, on the whole machine: others have sockets too.
    pub(super) allocated: u64,
}

impl Watch<'_> {
    /// From the start of the load to the last socket gone, or to the limit of the scene.
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
        // Whoever asked whether the target accepts was accepted too.
        for look in &mut looks {
            look.target.accepted -= target_before.accepted.min(look.target.accepted);
        }
        Ok(Watched { looks, memory, resident_before: (client_before, server_before), said, left })
    }

    /// The kernel first, then the target, so that the two are of one instant as nearly as can be.
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

/// The running load, killed when dropped before its end.
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

    /// What it said of itself once it has ended.
    fn said(&mut self) -> Result<RunReport> {
        let status = self.child.wait().context("waiting")?;
        let text = std::fs::read_to_string(&self.stdout).unwrap_or_default();
        // 1, 3 and 4 are runs that went to their end: a verdict is told, not judged here.
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
