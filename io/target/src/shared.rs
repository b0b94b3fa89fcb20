//! [`Shared`]: the state shared by the threads of one server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use wavetank_driver::{Clock, Crash, Errno, WallClock};
use wavetank_shop::Shop;
use wavetank_units::Nanos;

use crate::freeze::Freeze;
use crate::truth::{ConnectionCounts, ConnectionSnapshot, Counts, Gauge, Truth};

/// Maximum number of attempts to read the counts without a reset in between. After that, they are
/// taken as they are.
const READINGS_MAX: u32 = 1_000;

/// The state shared by the threads of one server.
///
/// It has no locks, and no thread waits here for another. A thread that works in a separate process
/// may be killed at any instruction, and would leave a lock locked.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) freeze: Freeze,
    pub(crate) shop: Arc<Shop>,
    counts: Vec<Arc<Counts>>,
    /// Connections over all threads.
    gauge: Arc<Gauge>,
    /// Incremented by each reset.
    epoch: AtomicU64,
    stop: AtomicBool,
    /// Why a thread failed.
    fault: OnceLock<Errno>,
    /// Crashes of the threads, by thread number.
    crashes: Vec<OnceLock<Crash>>,
}

impl Shared {
    /// Creates the state of `threads` threads, and of `others` that count as well but accept no
    /// connections.
    pub(crate) fn new(
        (threads, others): (u32, usize),
        clock: Clock,
        freeze: Option<(Nanos, Nanos)>,
        shop: Arc<Shop>,
    ) -> Self {
        let all = threads as usize + others;
        let gauge = Arc::<Gauge>::default();
        Self {
            clock,
            freeze: Freeze::new(freeze),
            shop,
            counts: (0..all).map(|_| Arc::new(Counts::new(Arc::clone(&gauge)))).collect(),
            gauge,
            epoch: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            fault: OnceLock::new(),
            crashes: (0..threads).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Returns the counts of one thread.
    pub(crate) fn thread_counts(&self, thread: u32) -> Arc<Counts> {
        Arc::clone(&self.counts[thread as usize])
    }

    /// Returns the current epoch. Counts of earlier epochs must be cleared.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Returns the counts of all threads, including those that are gone.
    pub(crate) fn truth(&self) -> Truth {
        let all = self.read(Counts::snapshot);
        let serving = self.crashes.iter().filter(|crash| crash.get().is_none()).count();
        Truth::from_counts(&all, u32::try_from(serving).expect("threads are few"), &self.gauge)
    }

    /// Returns the numbers of connections and responses now.
    pub(crate) fn open_now(&self) -> ConnectionSnapshot {
        let mut all = ConnectionCounts::default();
        let mut answers = 0;
        for seen in self.read(|counts, epoch| (counts.connections_in(epoch), counts.answers_in(epoch))) {
            all += seen.0;
            answers += seen.1;
        }
        let now = self.clock.now();
        let connections = all.with_extremes(&self.gauge);
        ConnectionSnapshot::new(&connections, answers, self.clock.monotonic(now), WallClock::unix_ns())
    }

    /// Applies `look` to the counts of each thread, all of the same epoch.
    fn read<T>(&self, look: impl Fn(&Counts, u64) -> T) -> Vec<T> {
        let mut readings = 0;
        loop {
            let epoch = self.epoch();
            let all = self.counts.iter().map(|counts| look(counts, epoch)).collect();
            readings += 1;
            if self.epoch() == epoch || readings == READINGS_MAX {
                return all;
            }
        }
    }

    /// Resets the counts and the freeze.
    pub(crate) fn reset(&self) {
        // The order matters: requests counted in the new epoch count from a first request that is
        // not older.
        self.freeze.reset();
        self.gauge.reset();
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Returns why a client was not accepted, on the first thread with such a failure.
    pub(crate) fn accept_failure(&self) -> Option<Errno> {
        self.counts.iter().find_map(|counts| counts.accept_failure())
    }

    /// Requests the threads to end. They must be woken as well.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Notes that a thread's process ended too early. This must not allocate: the process may have
    /// been killed while it held the allocator's lock for this thread.
    pub(crate) fn crashed(&self, thread: u32, crash: Crash) {
        self.counts[thread as usize].all_closed();
        self.shop.remove_thread(thread);
        // A thread ends only once.
        let _ = self.crashes[thread as usize].set(crash);
    }

    /// Returns whether a thread's process ended too early.
    pub(crate) fn is_gone(&self, thread: u32) -> bool {
        self.crashes[thread as usize].get().is_some()
    }

    /// Returns a message for each crashed thread.
    pub(crate) fn crashes(&self) -> Vec<String> {
        let crashes = self.crashes.iter().enumerate();
        crashes.filter_map(|(thread, crash)| Some(format!("serve-{thread}: {}", crash.get()?))).collect()
    }

    /// Notes that a thread can no longer wait for its sockets. The whole server stops, since
    /// otherwise it would serve only part of its clients.
    pub(crate) fn failed(&self, errno: Errno) {
        // Only the first error is kept.
        let _ = self.fault.set(errno);
        self.stop();
    }

    /// Returns the error of the first thread that failed.
    pub(crate) fn fault(&self) -> Option<Errno> {
        self.fault.get().copied()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
