//! [`Shared`]: what the threads of one server have in common.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use wavetank_driver::{Clock, Crash, Errno, WallClock};
use wavetank_plan::Nanos;

use crate::freeze::Freeze;
use crate::shop::Shop;
use crate::truth::{ConnectionCounts, ConnectionSnapshot, Counts, Gauge, Truth};

/// How often the counts are read again because of a reset meanwhile, before they are taken as they are.
const READINGS_MAX: u32 = 1_000;

/// What the threads of one server have in common.
///
/// None of it is locked, and no thread waits here for another: one that works in a process of its own may be
/// killed at any instruction, and would leave a lock locked.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) freeze: Freeze,
    pub(crate) shop: Arc<Shop>,
    counts: Vec<Arc<Counts>>,
    /// Connections over all threads.
    gauge: Arc<Gauge>,
    /// Raised by each reset.
    epoch: AtomicU64,
    stop: AtomicBool,
    /// Why a thread could not go on.
    fault: OnceLock<Errno>,
    /// What became of threads that did not come to their end.
    crashes: Vec<OnceLock<Crash>>,
}

impl Shared {
    pub(crate) fn new(threads: u32, clock: Clock, freeze: Option<(Nanos, Nanos)>, shop: Arc<Shop>) -> Self {
        let gauge = Arc::<Gauge>::default();
        Self {
            clock,
            freeze: Freeze::new(freeze),
            shop,
            counts: (0..threads).map(|_| Arc::new(Counts::new(Arc::clone(&gauge)))).collect(),
            gauge,
            epoch: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            fault: OnceLock::new(),
            crashes: (0..threads).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The counts of one thread.
    pub(crate) fn thread_counts(&self, thread: u32) -> Arc<Counts> {
        Arc::clone(&self.counts[thread as usize])
    }

    /// Which reset counts must have been cleared for.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// What all threads have seen, those that are gone included.
    pub(crate) fn truth(&self) -> Truth {
        let all = self.read(Counts::snapshot);
        let serving = self.crashes.iter().filter(|crash| crash.get().is_none()).count();
        Truth::from_counts(&all, u32::try_from(serving).expect("threads are few"), &self.gauge)
    }

    /// How it stands with connections now, and with answers.
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

    /// `look` at the counts of each thread, all of the same epoch.
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

    /// Count anew, and arm the freeze anew.
    pub(crate) fn reset(&self) {
        // In this order: what is counted in the new epoch counts from a first request that is not older.
        self.freeze.reset();
        self.gauge.reset();
        self.epoch.fetch_add(1, Ordering::Release);
    }

    /// Why a client was not accepted, on the first thread to which that has happened.
    pub(crate) fn accept_failure(&self) -> Option<Errno> {
        self.counts.iter().find_map(|counts| counts.accept_failure())
    }

    /// Ask the threads to end; they must be woken, too.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A thread's process ended before its work did. Asks for no memory: that process may have been killed while
    /// it held the allocator's lock for this thread.
    pub(crate) fn crashed(&self, thread: u32, crash: Crash) {
        self.counts[thread as usize].all_closed();
        self.shop.desks().remove_thread(thread);
        // A thread ends once.
        let _ = self.crashes[thread as usize].set(crash);
    }

    /// Whether a thread's process ended before its work did.
    pub(crate) fn is_gone(&self, thread: u32) -> bool {
        self.crashes[thread as usize].get().is_some()
    }

    /// What is known of crashes, in words, by thread.
    pub(crate) fn crashes(&self) -> Vec<String> {
        let crashes = self.crashes.iter().enumerate();
        crashes.filter_map(|(thread, crash)| Some(format!("serve-{thread}: {}", crash.get()?))).collect()
    }

    /// A thread cannot wait for its sockets any more: the whole server ends, before it serves some and not others.
    pub(crate) fn failed(&self, errno: Errno) {
        // The first one tells.
        let _ = self.fault.set(errno);
        self.stop();
    }

    /// What the first thread said that could not go on.
    pub(crate) fn fault(&self) -> Option<Errno> {
        self.fault.get().copied()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
