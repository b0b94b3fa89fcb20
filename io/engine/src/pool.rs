//! [`Pool`]: connections that any session of a load thread may use, and who waits for one.

use std::collections::VecDeque;

use wavetank_plan::Nanos;

use crate::flights::Flight;
use crate::seat::{Seat, State};

/// Shared seats by number, and the requests waiting for one of them.
pub(crate) struct Pool {
    /// With an open connection and nothing to do, most recently used last. A seat may have lost its
    /// connection while it stood here; that is found out when it is taken.
    idle: Vec<u32>,
    /// Without a connection any more.
    closed: Vec<u32>,
    /// From this one on no seat has been used yet.
    fresh: u32,
    /// The first of its seats, and the first after them.
    first: u32,
    end: u32,
    /// In order of their deadlines, which are all equally far from their begin.
    waiting: VecDeque<Flight>,
    /// A timer is set for the first of them.
    pub(crate) armed: bool,
}

impl Pool {
    /// Seats from `first` to before `end`, all closed; the lowest is opened first.
    pub(crate) fn new(first: u32, end: u32) -> Self {
        let (idle, closed, waiting) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { idle, closed, fresh: first, first, end, waiting, armed: false }
    }

    /// Whether the seat is one of its: the last ones of all.
    #[inline]
    pub(crate) const fn has(&self, seat: u32) -> bool {
        seat >= self.first
    }

    /// A seat that can send at once.
    pub(crate) fn take_idle(&mut self, seats: &mut [Seat]) -> Option<u32> {
        while let Some(seat) = self.idle.pop() {
            let entry = &mut seats[seat as usize];
            entry.stacked = false;
            if entry.state == State::Open && entry.flights.sent() == 0 {
                return Some(seat);
            }
        }
        None
    }

    /// An open seat has nothing to do.
    pub(crate) fn put_idle(&mut self, seat: u32, entry: &mut Seat) {
        if !entry.stacked {
            entry.stacked = true;
            self.idle.push(seat);
        }
    }

    /// A seat to open: one that was used before, or the next fresh one.
    pub(crate) fn take_closed(&mut self) -> Option<u32> {
        self.closed.pop().or_else(|| {
            let fresh = (self.fresh < self.end).then_some(self.fresh);
            self.fresh += u32::from(fresh.is_some());
            fresh
        })
    }

    /// This seat is to be opened, ahead of need.
    pub(crate) fn take_this_closed(&mut self, seat: u32) {
        while self.fresh <= seat {
            self.closed.push(self.fresh);
            self.fresh += 1;
        }
        if let Some(place) = self.closed.iter().rposition(|&closed| closed == seat) {
            self.closed.swap_remove(place);
        }
    }

    /// A seat has no connection any more.
    pub(crate) fn put_closed(&mut self, seat: u32) {
        self.closed.push(seat);
    }

    /// A request waits for any seat; one that is tried again, ahead of all others.
    pub(crate) fn wait(&mut self, flight: Flight) {
        if flight.again {
            self.waiting.push_front(flight);
        } else {
            self.waiting.push_back(flight);
        }
    }

    /// The request that has waited longest.
    pub(crate) fn take_waiting(&mut self) -> Option<Flight> {
        self.waiting.pop_front()
    }

    /// The request that has waited longest, if its time is up at `now`.
    pub(crate) fn take_expired(&mut self, now: Nanos) -> Option<Flight> {
        self.waiting.pop_front_if(|flight| flight.deadline <= now)
    }

    /// The first to be served next.
    pub(crate) fn first_waiting(&self) -> Option<&Flight> {
        self.waiting.front()
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_seats_come_before_fresh_ones_and_each_is_handed_out_once() {
        let mut pool = Pool::new(0, 5);
        assert_eq!((pool.take_closed(), pool.take_closed()), (Some(0), Some(1)));
        pool.put_closed(0);
        assert_eq!((pool.take_closed(), pool.take_closed()), (Some(0), Some(2)));
        pool.take_this_closed(4);
        assert_eq!((pool.take_closed(), pool.take_closed()), (Some(3), None));
    }
}
