//! [`Queue`]: a bounded queue between threads that can be closed.
//!
//! Links of other crates use it, too.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A queue with a maximum number of items and of bytes.
///
/// A single item may be larger than the maximum of bytes: an item is accepted while the items
/// before it have less.
#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<QueueState<T>>,
    changed: Condvar,
    items_max: usize,
    bytes_max: usize,
}

#[derive(Debug)]
struct QueueState<T> {
    items: VecDeque<(usize, T)>,
    bytes: usize,
    closed: bool,
    /// The next wait for an item does not last.
    interrupted: bool,
}

/// Why an item was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotQueued {
    /// The queue is full.
    Full,
    /// The queue is closed.
    Closed,
}

impl<T> Queue<T> {
    /// A queue that is full with this many items, or with items of this many bytes.
    pub fn new(items_max: usize, bytes_max: usize) -> Self {
        let state = QueueState { items: VecDeque::new(), bytes: 0, closed: false, interrupted: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), items_max, bytes_max }
    }

    /// Appends an item of this size in bytes without waiting.
    ///
    /// # Errors
    /// If the queue is full or closed.
    pub fn try_push(&self, item: T, bytes: usize) -> Result<(), NotQueued> {
        let mut state = self.lock();
        if state.closed {
            return Err(NotQueued::Closed);
        }
        if self.is_full(&state) {
            return Err(NotQueued::Full);
        }
        self.add(&mut state, item, bytes);
        Ok(())
    }

    /// Appends an item of this size when there is room. Returns false if the queue was closed, or
    /// if `is_cancelled` returned true before there was room; see [`Self::wake`].
    pub(crate) fn push(&self, item: T, bytes: usize, is_cancelled: impl Fn() -> bool) -> bool {
        let blocked = |state: &mut QueueState<T>| !state.closed && !is_cancelled() && self.is_full(state);
        let waited = self.changed.wait_while(self.lock(), blocked);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let is_accepted = !state.closed && !self.is_full(&state);
        if is_accepted {
            self.add(&mut state, item, bytes);
        }
        is_accepted
    }

    /// Returns the next item, waiting at most `wait`. A closed queue still returns its items. An
    /// interrupt ends the wait early.
    pub fn pop(&self, wait: Duration) -> Option<T> {
        let empty = |state: &mut QueueState<T>| state.items.is_empty() && !state.closed && !state.interrupted;
        let waited = self.changed.wait_timeout_while(self.lock(), wait, empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.interrupted = false;
        self.take(&mut state)
    }

    /// Returns the next item, or `None` as soon as the queue is closed.
    pub(crate) fn pop_until_closed(&self) -> Option<T> {
        let empty = |state: &mut QueueState<T>| state.items.is_empty() && !state.closed;
        let waited = self.changed.wait_while(self.lock(), empty);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.closed { None } else { self.take(&mut state) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Ends the wait of a thread in [`Self::pop`], or the next such wait.
    pub fn interrupt(&self) {
        self.lock().interrupted = true;
        self.changed.notify_all();
    }

    /// Accepts nothing more. All waiting threads return.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Lets waiting threads look whether they are cancelled.
    pub(crate) fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }

    fn is_full(&self, state: &QueueState<T>) -> bool {
        state.items.len() >= self.items_max || state.bytes >= self.bytes_max
    }

    fn add(&self, state: &mut QueueState<T>, item: T, bytes: usize) {
        state.bytes += bytes;
        state.items.push_back((bytes, item));
        self.changed.notify_all();
    }

    fn take(&self, state: &mut QueueState<T>) -> Option<T> {
        let (bytes, item) = state.items.pop_front()?;
        state.bytes -= bytes;
        self.changed.notify_all();
        Some(item)
    }

    /// A thread that panicked with the lock left the queue intact: no code that may panic runs
    /// between two changes.
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const LONG: Duration = Duration::from_mins(5);

    #[test]
    fn items_and_bytes_are_limited() {
        let queue = Queue::new(3, 10);
        assert_eq!(queue.try_push('a', 50), Ok(()), "one item may be larger");
        assert_eq!(queue.try_push('b', 1), Err(NotQueued::Full));
        assert_eq!(queue.pop(Duration::ZERO), Some('a'));
        for item in ['c', 'd', 'e'] {
            assert_eq!(queue.try_push(item, 1), Ok(()));
        }
        assert_eq!(queue.try_push('f', 1), Err(NotQueued::Full));
        queue.close();
        assert_eq!(queue.try_push('g', 1), Err(NotQueued::Closed));
        assert_eq!(queue.pop(LONG), Some('c'), "a closed queue still has its items");
        assert_eq!(queue.pop_until_closed(), None);
    }

    #[test]
    fn an_interrupt_ends_one_wait() {
        let queue = Queue::new(1, 10);
        queue.interrupt();
        assert_eq!(queue.pop(LONG), None);
        assert_eq!(queue.try_push('a', 1), Ok(()));
        queue.interrupt();
        assert_eq!(queue.pop(LONG), Some('a'), "an item comes first");
        assert_eq!(queue.try_push('b', 1), Ok(()));
        assert_eq!(queue.pop(LONG), Some('b'));
    }

    #[test]
    fn a_waiting_thread_is_woken_by_room_by_cancelling_and_by_closing() {
        let queue = Queue::new(1, 10);
        let cancelled = AtomicBool::new(false);
        assert!(queue.push(1, 0, || false));
        std::thread::scope(|scope| {
            let pushed = scope.spawn(|| queue.push(2, 0, || false));
            assert_eq!(queue.pop(LONG), Some(1));
            assert!(pushed.join().expect("the thread ended"));
            let pushed = scope.spawn(|| queue.push(3, 0, || cancelled.load(Ordering::SeqCst)));
            cancelled.store(true, Ordering::SeqCst);
            queue.wake();
            assert!(!pushed.join().expect("the thread ended"));
            let pushed = scope.spawn(|| queue.push(4, 0, || false));
            queue.close();
            assert!(!pushed.join().expect("the thread ended"));
        });
    }
}
