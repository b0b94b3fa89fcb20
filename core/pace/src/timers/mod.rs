//! [`Timers`]: millions of deadlines, most of which are cancelled.

mod bits;
mod slots;
mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wavetank_plan::Nanos;

use wheel::{Entry, EntryState, NONE, Wheel};

/// A timer wheel: inserting and cancelling cost the same however many timers there are, and nothing fires
/// early. No call does work for more timers than fall due in one slot of 4 ms, as long as [`Timers::pop`] is
/// called at least every four minutes.
///
/// A slot of the near wheel is about a microsecond wide; timers of the slot that is due are ordered by a
/// small heap, so [`Timers::pop`] gives them by deadline. The wheels themselves: `timers/wheel.rs`.
#[derive(Clone, Debug)]
pub struct Timers<T> {
    wheel: Wheel<T>,
    /// Timers whose tick is not after the wheel's: (deadline, entry, generation), the next on top.
    due: BinaryHeap<Reverse<(i64, u32, u32)>>,
    /// Cancelled timers still in `due`.
    due_stale: usize,
}

/// Names one timer; a stale one names nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerId {
    entry: u32,
    generation: u32,
}

impl Default for TimerId {
    /// Names nothing: for where a timer may be or not, in no more room.
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
    /// No timers.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// No timers, with room for so many before memory is asked for again.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { wheel: Wheel::with_capacity(capacity), due: BinaryHeap::new(), due_stale: 0 }
    }

    /// Timers set and neither popped nor cancelled.
    pub fn len(&self) -> usize {
        self.wheel.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Set a timer for any instant, also a past one.
    ///
    /// # Panics
    /// Beyond 4 billion timers.
    pub fn insert(&mut self, at: Nanos, value: T) -> TimerId {
        let (entry, generation) = self.wheel.allocate(at.0, value);
        self.file(entry);
        TimerId { entry, generation }
    }

    /// Take a timer back; `None` if it was popped or cancelled before.
    pub fn cancel(&mut self, id: TimerId) -> Option<T> {
        let entry = self.wheel.get(id.entry, id.generation)?;
        if entry.place == EntryState::Due {
            self.due_stale += 1;
        } else {
            self.wheel.unlink(id.entry);
        }
        let value = self.wheel.release(id.entry);
        // A user who sets and cancels past deadlines without ever popping must not fill the memory.
        if self.due_stale > 64 && self.due_stale * 2 > self.due.len() {
            let wheel = &self.wheel;
            self.due.retain(|&Reverse((_, entry, generation))| wheel.get(entry, generation).is_some());
            self.due_stale = 0;
        }
        value
    }

    /// The timer with the earliest deadline, if that is not after `now`, and its deadline. Call until `None`.
    pub fn pop(&mut self, now: Nanos) -> Option<(Nanos, T)> {
        loop {
            if let Some((at, entry)) = self.first_due() {
                if at > now.0 {
                    return None;
                }
                self.due.pop();
                return self.wheel.release(entry).map(|value| (Nanos(at), value));
            }
            // Nothing is filed for the wheel's tick: turn it to the next slot that is due.
            let mut list = self.wheel.turn(now.0)?;
            while list != NONE {
                let next = self.wheel.entry(list).next;
                self.file(list);
                list = next;
            }
        }
    }

    /// An instant at or before the earliest deadline, later than every `now` popped to the end: the instant
    /// to call [`Timers::pop`] again. It is the earliest deadline itself if that lies within 4 minutes of the
    /// last pop and no timer of its slot has been cancelled since.
    #[expect(
        clippy::should_implement_trait,
        reason = "it takes nothing: an instant to wait for, not an item"
    )]
    pub fn next(&mut self) -> Option<Nanos> {
        match self.first_due() {
            Some((at, _)) => Some(Nanos(at)),
            None => self.wheel.next().map(Nanos),
        }
    }

    /// The first timer of `due`, cancelled ones swept away.
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

    /// Put an entry where its deadline belongs.
    fn file(&mut self, entry: u32) {
        if !self.wheel.link(entry) {
            let Entry { at, generation, .. } = *self.wheel.entry(entry);
            self.due.push(Reverse((at, entry, generation)));
        }
    }
}

#[cfg(test)]
mod tests;
