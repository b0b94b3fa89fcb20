//! [`RunLock`]: allows one run at a time in a lab.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the keeper may need to notice that a client is gone: on a busy machine its thread may
/// wait for a CPU.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);

/// Allows one run at a time. An ended run keeps the lab until its faults are undone, and the next
/// run waits for that. Otherwise consecutive runs would be refused for starting too early.
#[derive(Debug)]
pub(super) struct RunLock {
    /// Time limit for undoing the faults of a run.
    mended_within: Duration,
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No run has the lab.
    #[default]
    Free,
    /// A run is in progress.
    Taken,
    /// The run is over, and its faults are being undone.
    Mending,
}

impl RunLock {
    /// Returns the lock of a lab in which faults are undone within that time.
    pub(super) fn new(mended_within: Duration) -> Self {
        Self { mended_within, stage: Mutex::default(), changed: Condvar::new() }
    }

    /// Tries to take the lab for a run; returns whether it succeeded.
    pub(super) fn try_acquire(&self) -> bool {
        let stage = self.wait_while(self.stage(), NOTICED_WITHIN, Stage::Taken);
        let mut stage = self.wait_while(stage, self.mended_within + NOTICED_WITHIN, Stage::Mending);
        let free = *stage == Stage::Free;
        if free {
            *stage = Stage::Taken;
        }
        free
    }

    /// Marks the run as over while its faults are being undone.
    pub(super) fn begin_cleanup(&self) {
        self.set(Stage::Mending);
    }

    /// Releases the lab after all faults are undone.
    pub(super) fn release(&self) {
        self.set(Stage::Free);
    }

    /// Whether a run uses the lab.
    pub(super) fn is_taken(&self) -> bool {
        *self.stage() != Stage::Free
    }

    fn set(&self, to: Stage) {
        *self.stage() = to;
        self.changed.notify_all();
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'s>(
        &self,
        stage: MutexGuard<'s, Stage>,
        at_most: Duration,
        while_: Stage,
    ) -> MutexGuard<'s, Stage> {
        let waited = self.changed.wait_timeout_while(stage, at_most, |stage| *stage == while_);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_next_when_all_is_mended() {
        let turn = RunLock::new(Duration::from_mins(1));
        assert!(!turn.is_taken() && turn.try_acquire() && turn.is_taken());
        assert!(!turn.try_acquire(), "a second one at the same time");
        turn.begin_cleanup();
        assert!(turn.is_taken());
        std::thread::scope(|scope| {
            let next = scope.spawn(|| turn.try_acquire());
            turn.release();
            assert!(next.join().expect("it waits for the first"), "it was free");
        });
        assert!(turn.is_taken());
    }
}
