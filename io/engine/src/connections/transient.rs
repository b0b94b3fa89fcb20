//! Seats of those who come and go: sessions that arrive, and users who turn to a further target.

use wavetank_driver::Driver;
use wavetank_plan::{Close, Nanos};

use super::Connections;
use crate::conn_slot::{ConnState, LastUse, SlotIntent};
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Whether a session of `scenario` that arrives has a connection of its own.
    #[inline]
    pub(crate) fn has_dedicated_connection(&self, scenario: u16) -> bool {
        self.own[usize::from(scenario)]
    }

    /// A seat for somebody who has come.
    pub(crate) fn allocate_transient(&mut self) -> u32 {
        let seat = self.vacant.pop();
        self.ensure_slot(seat);
        seat
    }

    /// He has gone: his connection is closed, and the seat is for the next one as soon as there is none in it. No
    /// request of his is under way there.
    pub(crate) fn release_transient(&mut self, seat: u32, how: Close, at: Nanos, rec: &mut Recorder) {
        debug_assert!(!self.is_busy(seat), "the owner of seat {seat} has a request under way");
        self.stop_hold(seat, how, at, rec);
        let entry = &mut self.seats[seat as usize];
        match entry.state {
            ConnState::Closed => self.give_back(seat),
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Open => {
                entry.wish = SlotIntent::Vacate;
            }
        }
    }

    /// Whoever has this seat wants to go to `target` from now on: a connection that leads elsewhere is closed.
    #[inline]
    pub(crate) fn retarget(&mut self, seat: u32, target: u16, rec: &mut Recorder) {
        let Some(entry) = self.seats.get(seat as usize) else { return };
        if entry.target != target && entry.state == ConnState::Open && !self.is_busy(seat) {
            let at = self.clock.now();
            self.stop_hold(seat, self.plan.http.close, at, rec);
        }
    }

    /// Nobody has this seat, and there is no connection in it.
    pub(super) fn give_back(&mut self, seat: u32) {
        // Whoever comes next is somebody else, and resumes nobody's TLS.
        self.driver.forget(seat);
        self.seats[seat as usize].past = LastUse::Nothing;
        self.vacant.push(seat);
    }
}
