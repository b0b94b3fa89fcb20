//! [`Timers`]: when time must pass for which connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wavetank_driver::ConnId;
use wavetank_units::Nanos;

/// Lazy timers: each connection has one that is set, no later than its next instant. A timer of a
/// connection that is gone, or that has a later instant by then, does nothing.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u32, u16)>>,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, conn: ConnId) {
        self.heap.push(Reverse((at, conn.slot, conn.generation)));
    }

    /// The earliest instant.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes a timer that is due at `now`, with its instant.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<(Nanos, ConnId)> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((at, slot, generation))| (at, ConnId { slot, generation }))
    }
}
