//! [`JobQueues`]: where the server's threads submit jobs for the database and get the outcomes.
//!
//! Each thread has its own queues. A thread that works in a separate process may be killed while it
//! holds a lock (see `Shared`). So the database threads, which serve all queues, only try that
//! lock, and check whether the thread is gone. Database threads run in this process, so waiting for
//! them is safe. A thread limits its outstanding jobs, which bounds its queues in both directions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, Thread};

use wavetank_driver::Waker;

use crate::job::{Done, Job};

/// Maximum number of jobs taken from one queue together. They are committed together.
const BATCH_MAX: usize = 256;

/// The database thread that a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DbThread {
    /// For changes, one after the other.
    Books,
    /// For look-ups.
    Catalogue,
}

impl DbThread {
    /// All of them.
    pub(crate) const ALL: [Self; 2] = [Self::Books, Self::Catalogue];
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct JobQueues {
    /// By thread number.
    places: Vec<Desk>,
    /// The database threads, to wake them.
    keepers: [OnceLock<Thread>; DbThread::ALL.len()],
    stop: AtomicBool,
}

/// The queues of one server thread.
#[derive(Debug, Default)]
struct Desk {
    /// By database thread.
    jobs: [Mutex<VecDeque<Job>>; DbThread::ALL.len()],
    done: Mutex<Vec<Done>>,
    waker: OnceLock<Waker>,
    gone: AtomicBool,
}

impl JobQueues {
    /// Creates the queues for this many threads.
    pub(crate) fn new(threads: u32) -> Self {
        Self {
            places: (0..threads).map(|_| Desk::default()).collect(),
            keepers: Default::default(),
            stop: AtomicBool::new(false),
        }
    }

    /// Sets the waker that notifies the thread of returned jobs.
    pub(crate) fn set_waker(&self, thread: u32, waker: Waker) {
        // Jobs returned before could not wake the thread.
        waker.wake();
        // A thread never changes its waker.
        drop(self.places[thread as usize].waker.set(waker));
    }

    /// Notes that the thread was killed. This must not allocate.
    pub(crate) fn remove_thread(&self, thread: u32) {
        self.places[thread as usize].gone.store(true, Ordering::Release);
    }

    /// Ends the database threads after their current jobs.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        for keeper in DbThread::ALL {
            self.ring(keeper);
        }
    }

    /// Submits the jobs of a server thread.
    pub(crate) fn submit(&self, thread: u32, keeper: DbThread, jobs: &mut Vec<Job>) {
        let place = &self.places[thread as usize].jobs[keeper as usize];
        place.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs.drain(..));
        self.ring(keeper);
    }

    /// Takes the returned jobs of a server thread.
    pub(crate) fn take_done(&self, thread: u32, into: &mut VecDeque<Done>) {
        let place = &self.places[thread as usize].done;
        into.extend(place.lock().unwrap_or_else(PoisonError::into_inner).drain(..));
    }

    /// Sets the thread that serves `keeper`. Must be called before any job is submitted and before
    /// `stop`.
    pub(crate) fn set_keeper(&self, keeper: DbThread, thread: Thread) {
        // A database thread is set only once.
        drop(self.keepers[keeper as usize].set(thread));
    }

    /// Waits until there are jobs for a database thread. Returns `false` if it must end.
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

    /// Takes jobs for a database thread, some from each queue, with the number of the server
    /// thread.
    pub(crate) fn take_jobs(&self, keeper: DbThread, into: &mut Vec<(u32, Job)>) {
        for (thread, desk) in (0..).zip(&self.places) {
            let Some(mut jobs) = desk.jobs(keeper) else { continue };
            let some = jobs.len().min(BATCH_MAX);
            into.extend(jobs.drain(..some).map(|job| (thread, job)));
        }
    }

    /// Returns the outcomes of jobs to their threads. `done` is sorted by thread.
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
    /// Locks the jobs for a database thread; `None` if the server thread is gone.
    fn jobs(&self, keeper: DbThread) -> Option<MutexGuard<'_, VecDeque<Job>>> {
        self.unless_gone(&self.jobs[keeper as usize])
    }

    /// Locks `place`; `None` if the server thread is gone. A living thread holds the lock only for
    /// an instant.
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
