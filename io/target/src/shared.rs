//! [`Shared`]: what the threads of one server have in common.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wavetank_driver::{Clock, Crash};
use wavetank_plan::Nanos;

use crate::freeze::Freeze;
use crate::truth::{Counts, Truth};

/// One thread's counts. Its thread takes the lock once a turn, which nobody else wants but for `/truth`.
pub(crate) type SharedCounts = Arc<Mutex<Counts>>;

/// What the threads of one server have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) freeze: Freeze,
    counts: Vec<SharedCounts>,
    stop: AtomicBool,
    /// What became of threads that did not come to their end, in words.
    crashes: Mutex<Vec<String>>,
}

impl Shared {
    pub(crate) fn new(threads: u32, clock: Clock, freeze: Option<(Nanos, Nanos)>) -> Self {
        let counts = (0..threads).map(|_| SharedCounts::default()).collect();
        Self {
            clock,
            freeze: Freeze::new(freeze),
            counts,
            stop: AtomicBool::new(false),
            crashes: Mutex::default(),
        }
    }

    /// The counts of one thread.
    pub(crate) fn counts_of(&self, thread: u32) -> SharedCounts {
        Arc::clone(&self.counts[thread as usize])
    }

    /// What all threads have seen. Nobody may call it who holds a lock of counts.
    pub(crate) fn truth(&self) -> Truth {
        let all: Vec<_> = self.counts.iter().map(|counts| lock(counts).clone()).collect();
        Truth::of(&all)
    }

    /// Count anew, and arm the freeze anew. Nobody may call it who holds a lock of counts.
    pub(crate) fn reset(&self) {
        for counts in &self.counts {
            lock(counts).reset();
        }
        self.freeze.reset();
    }

    /// Ask the threads to end; they must be woken, too.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A thread's process ended before its work did.
    pub(crate) fn crashed(&self, thread: u32, crash: Crash) {
        let text = format!("serve-{thread}: {crash}");
        self.crashes.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }

    /// What is known of crashes, in words.
    pub(crate) fn crashes(&self) -> Vec<String> {
        self.crashes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Counts are plain numbers: they are sound even if their thread panicked.
pub(crate) fn lock(counts: &SharedCounts) -> MutexGuard<'_, Counts> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
