//! Connections that are held for their own sake, and connections that are no longer needed.

use wavetank_driver::Driver;
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::{Connections, HoldEvent, Tuple};
use crate::conn_slot::{ConnState, LastUse, SlotIntent};
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Holds this slot's connection from now on.
    ///
    /// Each opening, end and failed opening is reported in [`held`](Self::held). The connection is
    /// opened now if it is not open.
    pub(crate) fn start_hold(&mut self, seat: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(seat);
        let entry = &mut self.seats[seat as usize];
        entry.wish = SlotIntent::Hold;
        match entry.state {
            ConnState::Closed => self.open(seat, target, phase, rec),
            ConnState::Open => self.tell_held(seat, self.driver.now(), true),
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {}
        }
    }

    /// Closes this slot's connection because it is no longer needed. One that is being opened is
    /// closed as soon as it is open. No request may be in flight on it.
    pub(crate) fn stop_hold(&mut self, seat: u32, how: Close, at: Nanos, rec: &mut Recorder) {
        debug_assert!(!self.is_busy_open(seat), "slot {seat} has a request in flight");
        let Some(entry) = self.seats.get_mut(seat as usize) else { return };
        (entry.wish, entry.past) = (SlotIntent::None, LastUse::Nothing);
        self.talks.forget_last_id(seat);
        match entry.state {
            ConnState::Closed => {}
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {
                entry.wish = SlotIntent::Leave;
            }
            ConnState::Open => {
                if let Some(link) = entry.link.take() {
                    if self.upgrades.is_some() && how == Close::Fin {
                        self.talks.leave(seat, entry, &mut self.driver, link);
                    }
                    entry.parked = None;
                    self.driver.close(link, how);
                    self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
                }
                entry.state = ConnState::Closed;
                rec.ended(false);
            }
        }
    }

    /// Handles a slot's connection that was just opened. Returns whether to keep it.
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

    /// Handles a slot's connection that has ended or could not be opened, and that is not reopened
    /// automatically.
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

    /// Whether this slot's connection can carry requests.
    pub(crate) fn is_open(&self, seat: u32) -> bool {
        self.seats.get(seat as usize).is_some_and(|entry| entry.state == ConnState::Open)
    }

    /// Whether requests are in flight on this slot, or wait for its connection.
    pub(crate) fn is_busy(&self, seat: u32) -> bool {
        self.seats.get(seat as usize).is_some_and(|entry| entry.sent() > 0 || entry.first_waiting().is_some())
    }

    /// Whether requests are in flight on this slot's open connection.
    fn is_busy_open(&self, seat: u32) -> bool {
        self.is_open(seat) && self.is_busy(seat)
    }

    /// Returns when the last opening of this slot's connection started.
    pub(crate) fn began(&self, seat: u32) -> Nanos {
        self.seats.get(seat as usize).map_or(Nanos(i64::MIN), |entry| entry.began)
    }

    /// Closes all connections by RST at the end of the run.
    pub(crate) fn close_all(&mut self, rec: &mut Recorder) {
        for entry in &mut self.seats {
            let Some(link) = entry.link.take() else { continue };
            self.driver.close(link, Close::Rst);
            match entry.state {
                ConnState::Open => rec.ended(false),
                // Keeps its state: it is being opened.
                ConnState::Connecting
                | ConnState::Tunnelling
                | ConnState::Securing
                | ConnState::Greeting
                | ConnState::Closed => {}
            }
            entry.state = ConnState::Closed;
        }
    }
}
