//! [`Timers`]: when connections need a turn although nothing has arrived.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wavetank_driver::ConnId;
use wavetank_units::Nanos;

/// After this many waits in a row with unread datagrams, timers fire regardless of them.
const UNREAD_WAITS_MAX: u32 = 16;

/// Lazy timers: each connection has one that is set, no later than its next instant. A timer of a
/// connection that is gone, or that has a later instant by then, does nothing.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Nanos, u32, u16)>>,
    /// When everything that had arrived was read.
    read_at: Nanos,
    /// Waits since then that found something to read.
    unread_waits: u32,
}

impl Timers {
    pub(crate) fn set(&mut self, at: Nanos, conn: ConnId) {
        self.heap.push(Reverse((at, conn.slot, conn.generation)));
    }

    /// The earliest instant.
    pub(crate) fn next(&self) -> Option<Nanos> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Notes that everything which had arrived at `now` was read.
    pub(crate) fn note_read(&mut self, now: Nanos) {
        (self.read_at, self.unread_waits) = (now, 0);
    }

    /// Returns the instant up to which timers fire after a wait that ended at `now`. What has
    /// arrived before a timer may make it void, so a thread or a process that was stopped reads
    /// first.
    pub(crate) fn fire_until(&mut self, now: Nanos, is_unread: bool) -> Nanos {
        if !is_unread || self.unread_waits >= UNREAD_WAITS_MAX {
            return now;
        }
        self.unread_waits += 1;
        self.read_at
    }

    /// Takes a timer that is due at `now`, with its instant.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<(Nanos, ConnId)> {
        self.next().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse((at, slot, generation))| (at, ConnId { slot, generation }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_is_read_before_timers_fire() {
        let mut timers = Timers::default();
        timers.note_read(Nanos(5));
        assert_eq!(timers.fire_until(Nanos(9), false), Nanos(9));
        for wait in 0..UNREAD_WAITS_MAX {
            assert_eq!(timers.fire_until(Nanos(40), true), Nanos(5), "wait {wait}");
        }
        assert_eq!(timers.fire_until(Nanos(41), true), Nanos(41), "some timers are needed to read on");
        timers.note_read(Nanos(42));
        assert_eq!(timers.fire_until(Nanos(43), true), Nanos(42));
    }
}
