//! [`RunLock`]: whose run has the lab.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the keeper may need to notice that a client is gone: on a busy machine its thread gets no CPU at once.
const NOTICED_WITHIN: Duration = Duration::from_secs(2);

/// One run at a time. A run that has ended keeps the lab until what it broke is mended, and the next one waits for that: who
/// makes one run after the other must not be refused for having been quick.
#[derive(Debug)]
pub(super) struct RunLock {
    /// How long what a run broke may take to be mended.
    mended_within: Duration,
    stage: Mutex<Stage>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nobody has it.
    #[default]
    Free,
    /// A run is under way.
    Taken,
    /// It is over, and is cleared up after.
    Mending,
}

impl RunLock {
    /// Of a lab in which what a run broke is mended within that time.
    pub(super) fn new(mended_within: Duration) -> Self {
        Self { mended_within, stage: Mutex::default(), changed: Condvar::new() }
    }

    /// Takes the lab; whether it could be had.
    pub(super) fn try_acquire(&self) -> bool {
        let stage = self.wait_while(self.stage(), NOTICED_WITHIN, Stage::Taken);
        let mut stage = self.wait_while(stage, self.mended_within + NOTICED_WITHIN, Stage::Mending);
        let free = *stage == Stage::Free;
        if free {
            *stage = Stage::Taken;
        }
        free
    }

    /// The run is over; what it broke is mended now.
    pub(super) fn begin_cleanup(&self) {
        self.set(Stage::Mending);
    }

    /// All is mended.
    pub(super) fn release(&self) {
        self.set(Stage::Free);
    }

    /// Whether a run has it.
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
        assert!(!turn.try_acquire(), "a second one beside it");
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
