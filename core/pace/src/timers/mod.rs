//! [`Timers`]: millions of deadlines, most of which are cancelled.

mod bits;
mod slots;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wavetank_units::Nanos;

use wheel::{Entry, EntryState, NONE, Wheel};

/// A timer wheel: inserting and cancelling take constant time for any number of timers, and no
/// timer fires early.
///
/// No call does work for more timers than are due in one slot of 4 ms, as long as [`Timers::pop`]
/// is called at least every four minutes.
///
/// A slot of the near wheel is about a microsecond wide. A small heap orders the timers of the slot
/// that is due, so [`Timers::pop`] returns them by deadline. The wheels are in `timers/wheel.rs`.
#[derive(Clone, Debug)]
pub struct Timers<T> {
    wheel: Wheel<T>,
    /// Timers with a tick not after the wheel's: (deadline, entry, generation), the next one on
    /// top.
    due: BinaryHeap<Reverse<(i64, u32, u32)>>,
    /// Cancelled timers still in `due`.
    due_stale: usize,
}

/// The handle of one timer. A handle to a timer that was popped or cancelled matches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId {
    entry: u32,
    generation: u32,
}

impl Default for TimerId {
    /// A handle that matches nothing. It marks a missing timer without the space of an `Option`.
    fn default() -> Self {
        Self { entry: NONE, generation: 0 }
    }
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Timers<T> {
    /// Creates an empty set of timers.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// Creates an empty set of timers with room for `capacity` timers before memory is allocated.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { wheel: Wheel::with_capacity(capacity), due: BinaryHeap::new(), due_stale: 0 }
    }

    /// The number of timers that were not popped or cancelled yet.
    pub fn len(&self) -> usize {
        self.wheel.len()
    }

    /// Whether no timer is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sets a timer for any instant, including a past one.
    ///
    /// # Panics
    /// Beyond 4 billion timers.
    pub fn insert(&mut self, at: Nanos, value: T) -> TimerId {
        let (entry, generation) = self.wheel.allocate(at.0, value);
        self.file(entry);
        TimerId { entry, generation }
    }

    /// Cancels a timer; `None` if it was popped or cancelled before.
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let entry = self.wheel.get(id.entry, id.generation)?;
        if entry.place == EntryState::Due {
            self.due_stale += 1;
        } else {
            self.wheel.unlink(id.entry);
        }
        let value = self.wheel.release(id.entry);
        // A caller that sets and cancels past deadlines without ever popping must not fill the
        // memory.
        if self.due_stale > 64 && self.due_stale * 2 > self.due.len() {
            let wheel = &self.wheel;
            self.due.retain(|&Reverse((_, entry, generation))| wheel.get(entry, generation).is_some());
            self.due_stale = 0;
        }
        value
    }

    /// Returns the timer with the earliest deadline and that deadline, if it is not after `now`.
    /// Call until `None`.
    pub fn pop(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        loop {
            if let Some((at, entry)) = self.first_due() {
                if at > now.0 {
                    return None;
                }
                self.due.pop();
                return self.wheel.release(entry).map(|value| (Nanos(at), value));
            }
            // The wheel's tick has no more timers: turn it to the next slot that is due.
            let mut list = self.wheel.turn(now.0)?;
            while list != NONE {
                let next = self.wheel.entry(list).next;
                self.file(list);
                list = next;
            }
        }
    }

    /// Returns the instant to call [`Timers::pop`] again. It is at or before the earliest deadline,
    /// and later than every `now` that was popped to the end.
    ///
    /// It is the earliest deadline itself, provided that this is within 4 minutes of the last pop
    /// and that no timer of its slot was cancelled since.
    #[expect(
        clippy::should_implement_trait,
        reason = "it consumes nothing: it returns an instant to wait for, not an item"
    )]
    pub fn next(&mut self) -> Option<Nanos> {
        match self.first_due() {
            Some((at, _)) => Some(Nanos(at)),
            None => self.wheel.next().map(Nanos),
        }
    }

    /// Returns the first timer of `due` after removing cancelled ones.
    fn first_due(&mut self) -> Option<(i64, u32)> {
        while let Some(&Reverse((at, entry, generation))) = self.due.peek() {
            if self.wheel.get(entry, generation).is_some() {
                return Some((at, entry));
            }
            self.due.pop();
            self.due_stale = self.due_stale.saturating_sub(1);
        }
        None
    }

    /// Puts an entry into the list for its deadline.
    fn file(&mut self, entry: u32) {
        if !self.wheel.link(entry) {
            let Entry { at, generation, .. } = *self.wheel.entry(entry);
            self.due.push(Reverse((at, entry, generation)));
        }
    }
}

#[cfg(test)]
mod tests;
