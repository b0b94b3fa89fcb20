//! [`JobQueues`]: where the server's threads hand in jobs for the database, and get back what came of them.
//!
//! Each thread has a desk of its own. A thread that works in a process of its own may be killed while it holds a lock
//! (see `Shared`), so nobody else waits for that lock: keepers, who serve all desks, look whether the thread is gone.
//! Keepers are threads of this process, for which one may wait. A thread hands in no more than it may have outstanding,
//! which bounds what lies on its desk, either way.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, Thread};

use wavetank_driver::Waker;

use super::job::{Done, Job};

/// Jobs that a keeper takes from one desk at a time: as many are committed together at most.
const BATCH_MAX: usize = 256;

/// Whose jobs they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DbThread {
    /// What changes something: one after the other.
    Books,
    /// What only looks.
    Catalogue,
}

impl DbThread {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::Books, Self::Catalogue];
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct JobQueues {
    /// By number of the thread.
    places: Vec<Desk>,
    /// To wake them.
    keepers: [OnceLock<Thread>; DbThread::ALL.len()],
    stop: AtomicBool,
}

/// One thread's.
#[derive(Debug, Default)]
struct Desk {
    /// By keeper.
    jobs: [Mutex<VecDeque<Job>>; DbThread::ALL.len()],
    done: Mutex<Vec<Done>>,
    waker: OnceLock<Waker>,
    gone: AtomicBool,
}

impl JobQueues {
    /// For so many threads.
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            places: (0..threads).map(|_| Desk::default()).collect(),
            keepers: Default::default(),
            stop: AtomicBool::new(false),
        }
    }

    /// How the thread is told that something came back.
    pub(crate) fn set_waker(&self, thread: u32, waker: Waker) {
        // What came back earlier could not ring.
        waker.wake();
        // Each thread has one waker all its life.
        drop(self.places[thread as usize].waker.set(waker));
    }

    /// The thread was killed. Asks for no memory.
    pub(crate) fn remove_thread(&self, thread: u32) {
        self.places[thread as usize].gone.store(true, Ordering::Release);
    }

    /// Keepers end when they are done with what they do.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        for keeper in DbThread::ALL {
            self.ring(keeper);
        }
    }

    /// A thread hands in its jobs.
    pub(crate) fn submit(&self, thread: u32, keeper: DbThread, jobs: &mut Vec<Job>) {
        let place = &self.places[thread as usize].jobs[keeper as usize];
        place.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs.drain(..));
        self.ring(keeper);
    }

    /// A thread takes what came back.
    pub(crate) fn take_done(&self, thread: u32, into: &mut VecDeque<Done>) {
        let place = &self.places[thread as usize].done;
        into.extend(place.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
    }

    /// Who keeper is; to be said before anybody hands in or stops.
    pub(crate) fn set_keeper(&self, keeper: DbThread, thread: Thread) {
        // Each has one thread all its life.
        drop(self.keepers[keeper as usize].set(thread));
    }

    /// A keeper waits until there is anything to do; false: it is to end.
    pub(crate) fn wait(&self, keeper: DbThread) -> bool {
        loop {
            if self.stop.load(Ordering::Acquire) {
                return false;
            }
            if self.places.iter().any(|desk| desk.jobs(keeper).is_some_and(|jobs| !jobs.is_empty())) {
                return true;
            }
            thread::park();
        }
    }

    /// A keeper takes jobs, some from each desk, with the number of the thread.
    pub(crate) fn take_jobs(&self, keeper: DbThread, into: &mut Vec<(u32, Job)>) {
        for (thread, desk) in (0..).zip(&self.places) {
            let Some(mut jobs) = desk.jobs(keeper) else { continue };
            let some = jobs.len().min(BATCH_MAX);
            into.extend(jobs.drain(..some).map(|job| (thread, job)));
        }
    }

    /// A keeper tells what came of jobs, sorted by the thread whose they are.
    pub(crate) fn complete(&self, done: &[(u32, Done)]) {
        for of_one in done.chunk_by(|one, other| one.0 == other.0) {
            let desk = &self.places[of_one[0].0 as usize];
            let Some(mut place) = desk.unless_gone(&desk.done) else { continue };
            place.extend(of_one.iter().map(|(_, done)| *done));
            drop(place);
            if let Some(waker) = desk.waker.get() {
                waker.wake();
            }
        }
    }

    fn ring(&self, keeper: DbThread) {
        if let Some(thread) = self.keepers[keeper as usize].get() {
            thread.unpark();
        }
    }
}

impl Desk {
    /// What lies here for a keeper, if the thread is there still.
    fn jobs(&self, keeper: DbThread) -> Option<MutexGuard<'_, VecDeque<Job>>> {
        self.unless_gone(&self.jobs[keeper as usize])
    }

    /// The thread holds its locks for an instant only, if it lives.
    fn unless_gone<'a, T>(&self, place: &'a Mutex<T>) -> Option<MutexGuard<'a, T>> {
        while !self.gone.load(Ordering::Acquire) {
            match place.try_lock() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => thread::yield_now(),
            }
        }
        None
    }
}
