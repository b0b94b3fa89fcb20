//! [`Counts`]: the counts of one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU64, Ordering, fence};

use wavetank_driver::Errno;
use wavetank_units::Nanos;

use super::arrival_log::{ArrivalLog, Arrived};
use super::counter::Counter;
use super::gauge::Gauge;
use super::path_counts::{PathCounts, PathSlot};
use super::{ConnectionCounts, HandshakeCounts, MessageCounts};
use crate::handshake::Handshake;

/// Responses are counted by status for statuses below this.
const STATUSES: usize = 600;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CloseKind {
    /// Closed after the peer's FIN.
    Finished,
    /// It broke.
    Broken,
    /// Closed by the server first.
    Closed,
}

/// The counts of one thread, written by that thread and readable by all at any time.
///
/// There is no lock: a thread may work in a separate process, and a lock held by a killed process
/// stays locked forever. Each number is consistent at every instant, and the counts of a thread
/// outlive it. Two numbers may differ by work in progress, such as a request that has not been
/// answered yet.
///
/// # Reset
/// A reset raises the server's epoch. Each thread clears its own counts when it next checks the
/// epoch, which is before it counts anything that came after the reset. Until then, its counts
/// belong to an older epoch and are read as zero.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The epoch that these counts were cleared for.
    epoch: AtomicU64,
    /// A gauge, not cleared by a reset. It is zero for a killed thread.
    open: AtomicI64,
    /// The same over all threads.
    gauge: Arc<Gauge>,
    pub(crate) bad_requests: Counter,
    pub(crate) accepted: Counter,
    /// By [`CloseKind`].
    gone: [Counter; 3],
    control: Counter,
    accept_failed: Counter,
    /// The error of the last failed accept; 0 if there was none. Not cleared by a reset.
    accept_errno: AtomicI32,
    pub(crate) full_handshakes: Counter,
    pub(crate) resumed_handshakes: Counter,
    pub(crate) failed_handshakes: Counter,
    pub(crate) messages_received: Counter,
    pub(crate) messages_sent: Counter,
    pub(crate) bytes_received: Counter,
    pub(crate) bytes_sent: Counter,
    paths: PathCounts,
    statuses: [Counter; STATUSES],
    arrivals: ArrivalLog,
}

impl Counts {
    /// Creates empty counts. `gauge` is shared by all threads.
    pub(crate) fn new(gauge: Arc<Gauge>) -> Self {
        Self {
            epoch: AtomicU64::new(0),
            open: AtomicI64::new(0),
            gauge,
            bad_requests: Counter::default(),
            accepted: Counter::default(),
            gone: Default::default(),
            control: Counter::default(),
            accept_failed: Counter::default(),
            accept_errno: AtomicI32::new(0),
            full_handshakes: Counter::default(),
            resumed_handshakes: Counter::default(),
            failed_handshakes: Counter::default(),
            messages_received: Counter::default(),
            messages_sent: Counter::default(),
            bytes_received: Counter::default(),
            bytes_sent: Counter::default(),
            paths: PathCounts::default(),
            statuses: std::array::from_fn(|_| Counter::default()),
            arrivals: ArrivalLog::default(),
        }
    }

    /// Returns the epoch that these counts were cleared for.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Clears the counts if the server's epoch has changed. Called only by the thread of these
    /// counts. The number of open connections is kept.
    #[inline]
    pub(crate) fn follow(&self, epoch: u64) {
        if self.epoch() != epoch {
            self.clear(epoch);
        }
    }

    #[cold]
    fn clear(&self, epoch: u64) {
        // A thread that reads a cleared number also sees that the server's epoch was raised.
        fence(Ordering::Release);
        let numbers = [
            &self.bad_requests,
            &self.accepted,
            &self.control,
            &self.accept_failed,
            &self.full_handshakes,
            &self.resumed_handshakes,
            &self.failed_handshakes,
            &self.messages_received,
            &self.messages_sent,
            &self.bytes_received,
            &self.bytes_sent,
        ];
        numbers.into_iter().chain(&self.gone).chain(&self.statuses).for_each(|counter| counter.set(0));
        self.paths.clear();
        self.arrivals.clear();
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Counts a connection that was opened.
    pub(crate) fn opened(&self) {
        self.gauge.opened();
        self.open.store(self.open.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Counts a connection that was closed.
    pub(crate) fn closed(&self, how: CloseKind) {
        self.gone[how as usize].add(1);
        self.gauge.closed(1);
        self.open.store(self.open.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
    }

    /// Counts all connections of a thread that is gone as closed.
    pub(crate) fn all_closed(&self) {
        let lost = self.open.swap(0, Ordering::Relaxed);
        self.gone[CloseKind::Closed as usize].add(lost.unsigned_abs());
        self.gauge.closed(lost);
    }

    /// Counts a client that was not accepted.
    pub(crate) fn not_accepted(&self, why: Errno) {
        self.accept_failed.add(1);
        self.accept_errno.store(why.0, Ordering::Relaxed);
    }

    /// Returns the error of the last failed accept.
    pub(crate) fn accept_failure(&self) -> Option<Errno> {
        let errno = self.accept_errno.load(Ordering::Relaxed);
        (errno != 0).then_some(Errno(errno))
    }

    /// Returns the counter for a path that has none since the last reset.
    pub(crate) fn add_path(&self, path: &[u8]) -> PathSlot {
        self.paths.add(path)
    }

    /// Counts the connection as `control` only, since its first request is for `/truth`.
    pub(crate) fn is_control(&self, handshake: Handshake) {
        self.accepted.take_one();
        self.gauge.take_back();
        self.open.store(self.open.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        self.control.add(1);
        match handshake {
            Handshake::None => {}
            Handshake::Full => self.full_handshakes.take_one(),
            Handshake::Resumed => self.resumed_handshakes.take_one(),
        }
    }

    /// Counts a request on the path with this counter. `first` is the time of the first request of
    /// all.
    #[inline]
    pub(crate) fn request(&self, slot: PathSlot, now: Nanos, first: Nanos) {
        self.paths.count(slot);
        self.arrivals.note(now, first);
    }

    /// Counts a response.
    #[inline]
    pub(crate) fn answered(&self, status: u16) {
        if let Some(count) = self.statuses.get(usize::from(status)) {
            count.add(1);
        }
    }

    /// Returns the counts of this epoch. They are inconsistent if the server's epoch was raised
    /// meanwhile.
    pub(crate) fn snapshot(&self, epoch: u64) -> CountsSnapshot {
        let same = self.epoch.load(Ordering::Acquire) == epoch;
        let mut seen = if same { self.read() } else { CountsSnapshot::default() };
        seen.connections = self.connections_in(epoch);
        seen
    }

    /// Like [`Counts::snapshot`] for connections only, which costs a few loads.
    pub(crate) fn connections_in(&self, epoch: u64) -> ConnectionCounts {
        let same = self.epoch.load(Ordering::Acquire) == epoch;
        let mut seen = if same { self.connections() } else { ConnectionCounts::default() };
        seen.open = u64::try_from(self.open.load(Ordering::Relaxed)).unwrap_or(0);
        fence(Ordering::Acquire);
        seen
    }

    /// Returns the number of responses in this epoch. It may be inconsistent like
    /// [`Counts::snapshot`].
    pub(crate) fn answers_in(&self, epoch: u64) -> u64 {
        let same = self.epoch.load(Ordering::Acquire) == epoch;
        let answers = if same { self.statuses.iter().map(Counter::get).sum() } else { 0 };
        fence(Ordering::Acquire);
        answers
    }

    fn connections(&self) -> ConnectionCounts {
        let [closed_by_peer, reset, closed_by_us] = self.gone.each_ref().map(Counter::get);
        ConnectionCounts {
            accepted: self.accepted.get(),
            control: self.control.get(),
            accept_failed: self.accept_failed.get(),
            closed_by_peer,
            reset,
            closed_by_us,
            ..ConnectionCounts::default()
        }
    }

    fn read(&self) -> CountsSnapshot {
        let (paths, other_paths) = self.paths.read();
        let statuses = (0..).zip(self.statuses.iter().map(Counter::get)).filter(|(_, count)| *count > 0);
        CountsSnapshot {
            bad_requests: self.bad_requests.get(),
            connections: ConnectionCounts::default(),
            handshakes: HandshakeCounts {
                full: self.full_handshakes.get(),
                resumed: self.resumed_handshakes.get(),
                failed: self.failed_handshakes.get(),
            },
            messages: MessageCounts {
                received: self.messages_received.get(),
                sent: self.messages_sent.get(),
            },
            bytes_received: self.bytes_received.get(),
            bytes_sent: self.bytes_sent.get(),
            statuses: statuses.collect(),
            paths,
            other_paths,
            arrivals: self.arrivals.read(),
        }
    }
}

/// [`Counts`] at one instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountsSnapshot {
    pub(super) bad_requests: u64,
    pub(super) connections: ConnectionCounts,
    pub(super) handshakes: HandshakeCounts,
    pub(super) messages: MessageCounts,
    pub(super) bytes_received: u64,
    pub(super) bytes_sent: u64,
    /// Statuses of responses, and their counts.
    pub(super) statuses: Vec<(u16, u64)>,
    /// Requested paths, and their counts.
    pub(super) paths: Vec<(Vec<u8>, u64)>,
    pub(super) other_paths: u64,
    pub(super) arrivals: Arrived,
}
