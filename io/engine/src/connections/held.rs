//! Connections that are kept for their own sake, and connections that nobody wants any more.

use wavetank_driver::Driver;
use wavetank_plan::{Close, Nanos};

use super::{Connections, Tuple};
use crate::conn_slot::{ConnState, LastUse, SlotIntent};
use crate::recorder::Recorder;

/// What became of a seat's held connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldEvent {
    pub(crate) seat: u32,
    pub(crate) at: Nanos,
    /// It can carry requests; otherwise it has ended, or could not be opened.
    pub(crate) open: bool,
}

impl<D: Driver> Connections<D> {
    /// From now on this seat's connection is kept: every time it is opened, ends or cannot be opened is told in
    /// [`held`](Self::held). It is opened now if it is not there.
    pub(crate) fn start_hold(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(seat);
        let entry = &mut self.seats[seat as usize];
        entry.wish = SlotIntent::Hold;
        match entry.state {
            ConnState::Closed => self.open(seat, target, phase, rec),
            ConnState::Open => self.tell_held(seat, self.clock.now(), true),
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing => {}
        }
    }

    /// Nobody wants this seat's connection any more: close it, one that is being opened as soon as it is. There must
    /// be no request under way on it.
    pub(crate) fn stop_hold(&mut self, seat: u32, how: Close, at: Nanos, rec: &mut Recorder) {
        let Some(entry) = self.seats.get_mut(seat as usize) else { return };
        (entry.wish, entry.past) = (SlotIntent::None, LastUse::Nothing);
        match entry.state {
            ConnState::Closed => {}
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing => {
                entry.wish = SlotIntent::Leave;
            }
            ConnState::Open => {
                if let Some(link) = entry.link.take() {
                    self.driver.close(link, how);
                    self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
                }
                entry.state = ConnState::Closed;
                rec.ended(false);
            }
        }
    }

    /// A seat's connection has just been opened. Whether it is to live.
    #[inline]
    pub(super) fn on_opened(&mut self, seat: u32, at: Nanos, rec: &mut Recorder) -> bool {
        let entry = &mut self.seats[seat as usize];
        if matches!(entry.wish, SlotIntent::Leave | SlotIntent::Vacate) {
            let vacate = std::mem::replace(&mut entry.wish, SlotIntent::None) == SlotIntent::Vacate;
            if entry.first_waiting().is_none() {
                let how = self.plan.http.close;
                self.stop_hold(seat, how, at, rec);
                if vacate {
                    self.give_back(seat);
                }
                return false;
            }
        }
        if entry.wish == SlotIntent::Hold {
            self.tell_held(seat, at, true);
        }
        true
    }

    /// A seat's connection has ended or could not be opened, and nobody opens it again by himself.
    #[inline]
    pub(super) fn on_hold_lost(&mut self, seat: u32, at: Nanos) {
        let entry = &mut self.seats[seat as usize];
        match entry.wish {
            SlotIntent::None => {}
            SlotIntent::Hold => {
                if entry.is_held_idle() {
                    self.release_io(seat);
                }
                self.tell_held(seat, at, false);
            }
            SlotIntent::Leave => entry.wish = SlotIntent::None,
            SlotIntent::Vacate => {
                entry.wish = SlotIntent::None;
                self.give_back(seat);
            }
        }
    }

    fn tell_held(&mut self, seat: u32, at: Nanos, open: bool) {
        self.held.push_back(HoldEvent { seat, at, open });
    }

    /// Whether this seat's connection can carry requests.
    pub(crate) fn is_open(&self, seat: u32) -> bool {
        self.seats.get(seat as usize).is_some_and(|entry| entry.state == ConnState::Open)
    }

    /// Whether requests are under way on this seat, or wait for its connection.
    pub(crate) fn is_busy(&self, seat: u32) -> bool {
        self.seats.get(seat as usize).is_some_and(|entry| entry.sent() > 0 || entry.first_waiting().is_some())
    }

    /// When this seat's connection was last begun to be opened.
    pub(crate) fn began(&self, seat: u32) -> Nanos {
        self.seats.get(seat as usize).map_or(Nanos(i64::MIN), |entry| entry.began)
    }

    /// The end of the run: close everything, by RST.
    pub(crate) fn close_all(&mut self, rec: &mut Recorder) {
        for entry in &mut self.seats {
            let Some(link) = entry.link.take() else { continue };
            self.driver.close(link, Close::Rst);
            match entry.state {
                ConnState::Open => rec.ended(false),
                // It stays what it was: being opened.
                ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Closed => {}
            }
            entry.state = ConnState::Closed;
        }
    }
}
