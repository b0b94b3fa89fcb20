//! [`OutputThread`]: one receiver, its thread and its bounded queue.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use wavetank_driver::NetworkNamespace;
use wavetank_units::{Code, UserError, WATCHER_NICENESS};

use crate::snapshot::Snapshot;

/// Intervals that wait for a receiver at most. More of them are lost.
const QUEUE_MAX: usize = 30;

/// Sends snapshots to one receiver.
pub(crate) trait Sink: Send + 'static {
    /// Sends one snapshot, within a few seconds. Fails with the reason, which has no secrets.
    fn send(&mut self, snapshot: &Snapshot) -> Result<(), String>;
}

/// Intervals that an output lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The output.
    pub output: String,
    /// Lost intervals.
    pub lost: u64,
    /// All intervals.
    pub all: u64,
    /// Why the first one was lost.
    pub reason: String,
}

/// What the thread reports.
#[derive(Debug, Default)]
struct Progress {
    sent: AtomicU64,
    failed: AtomicU64,
    first_problem: Mutex<Option<String>>,
}

impl Progress {
    fn fail(&self, reason: impl FnOnce() -> String) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.first_problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(reason);
    }
}

/// One receiver with its thread.
#[derive(Debug)]
pub(crate) struct OutputThread {
    label: String,
    /// `None` once it is closed.
    queue: Option<SyncSender<Arc<Snapshot>>>,
    progress: Arc<Progress>,
    /// Is disconnected when the thread ends.
    ended: Receiver<()>,
    given: u64,
    warned: bool,
}

impl OutputThread {
    /// Starts the thread. Its sockets are in the network `home`, if that is given.
    ///
    /// # Errors
    /// If this host starts no more threads.
    pub(crate) fn start(
        label: String,
        sink: Box<dyn Sink>,
        home: Option<NetworkNamespace>,
    ) -> Result<Self, UserError> {
        let (queue, snapshots) = sync_channel(QUEUE_MAX);
        let progress = Arc::new(Progress::default());
        let reports = Arc::clone(&progress);
        let ended = spawn(home, move || forward(sink, &snapshots, &reports))?;
        Ok(Self { label, queue: Some(queue), progress, ended, given: 0, warned: false })
    }

    /// Its name.
    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    /// Intervals lost so far, or known to be.
    pub(crate) fn lost(&self) -> u64 {
        self.progress.failed.load(Ordering::Relaxed)
    }

    /// Passes a snapshot on without waiting; it is lost if the queue is full.
    pub(crate) fn give(&mut self, snapshot: &Arc<Snapshot>) {
        let Some(queue) = &self.queue else { return };
        self.given += 1;
        if queue.try_send(Arc::clone(snapshot)).is_err() {
            self.progress.fail(|| format!("{QUEUE_MAX} intervals wait already"));
        }
    }

    /// The reason of the first loss, once.
    pub(crate) fn take_first_problem(&mut self) -> Option<String> {
        if self.warned {
            return None;
        }
        let problem = self.progress.first_problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.warned = problem.is_some();
        problem
    }

    /// No snapshot follows.
    pub(crate) fn close(&mut self) {
        self.queue = None;
    }

    /// Waits until everything is sent, at most `limit`.
    pub(crate) fn wait(&self, limit: Duration) {
        wait(&self.ended, limit);
    }

    /// What was lost of everything given.
    pub(crate) fn loss(&self) -> Option<Loss> {
        let lost = self.given.saturating_sub(self.progress.sent.load(Ordering::Relaxed));
        let problem = self.progress.first_problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reason = problem.unwrap_or_else(|| "the time limit at the end was reached".to_owned());
        (lost > 0).then(|| Loss { output: self.label.clone(), lost, all: self.given, reason })
    }
}

/// Starts a thread in the network `home`; the receiver is disconnected when it ends.
pub(crate) fn spawn(
    home: Option<NetworkNamespace>,
    work: impl FnOnce() + Send + 'static,
) -> Result<Receiver<()>, UserError> {
    let (alive, ended) = sync_channel(1);
    let thread = thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        let _alive: SyncSender<()> = alive;
        // Metrics that come later are better than load that comes later.
        let _ = rustix::process::setpriority_process(None, WATCHER_NICENESS);
        // Without the right to go home, a receiver cannot be reached and loses every interval.
        let _ = home.map(|home| home.enter());
        work();
    });
    match thread {
        Ok(_) => Ok(ended),
        Err(error) => {
            let message = format!("cannot start a thread for --metrics: {error}");
            Err(UserError::refused(
                Code::HostCannot,
                message,
                "look at `ulimit -u` and the limits of the container",
            ))
        }
    }
}

/// Waits until the thread of `ended` has ended, at most `limit`.
pub(crate) fn wait(ended: &Receiver<()>, limit: Duration) -> bool {
    matches!(ended.recv_timeout(limit), Err(RecvTimeoutError::Disconnected))
}

/// Sends every snapshot. The last one, which has the result of the run, is tried twice.
fn forward(mut sink: Box<dyn Sink>, snapshots: &Receiver<Arc<Snapshot>>, progress: &Progress) {
    let mut failed = None;
    while let Ok(snapshot) = snapshots.recv() {
        failed = match sink.send(&snapshot) {
            Ok(()) => {
                progress.sent.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(reason) => {
                progress.fail(|| reason);
                Some(snapshot)
            }
        };
    }
    if let Some(last) = failed
        && sink.send(&last).is_ok()
    {
        progress.sent.fetch_add(1, Ordering::Relaxed);
    }
}
