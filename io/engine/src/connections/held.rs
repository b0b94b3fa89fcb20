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
    pub(crate) fn start_hold(&mut self, slot: u32, target: u16, phase: u16, rec: &mut Recorder) {
        self.ensure_slot(slot);
        let entry = &mut self.slots[slot as usize];
        entry.intent = SlotIntent::Hold;
        match entry.state {
            ConnState::Closed => self.open(slot, target, phase, rec),
            ConnState::Open => self.report_held(slot, self.driver.now(), true),
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {}
        }
    }

    /// Closes this slot's connection because it is no longer needed. One that is being opened is
    /// closed as soon as it is open. No request may be in flight on it.
    pub(crate) fn stop_hold(&mut self, slot: u32, how: Close, at: Nanos, rec: &mut Recorder) {
        debug_assert!(!self.is_busy_open(slot), "slot {slot} has a request in flight");
        let Some(entry) = self.slots.get_mut(slot as usize) else { return };
        (entry.intent, entry.last_use) = (SlotIntent::None, LastUse::Nothing);
        self.io_pool.forget_last_id(slot);
        match entry.state {
            ConnState::Closed => {}
            ConnState::Connecting | ConnState::Tunnelling | ConnState::Securing | ConnState::Greeting => {
                entry.intent = SlotIntent::Leave;
            }
            ConnState::Open => {
                if let Some(conn) = entry.conn.take() {
                    if self.upgrades.is_some() && how == Close::Fin {
                        self.io_pool.leave(slot, entry, &mut self.driver, conn);
                    }
                    entry.parked = None;
                    self.driver.close(conn, how);
                    self.sources.release(std::mem::replace(&mut entry.tuple, Tuple::KERNELS), at);
                }
                entry.state = ConnState::Closed;
                rec.closed();
            }
        }
    }

    /// Starts a phase of users or held connections.
    pub(crate) fn start_phase(&mut self, phase: u16) {
        self.current_phases.start(phase);
    }

    /// Makes a connection count in the current phase, unless a request of another one is in flight.
    pub(super) fn refresh_phase(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        if entry.sent() == 0 {
            entry.phase = self.current_phases.current(entry.phase);
        }
    }

    /// Handles a slot's connection that was just opened. Returns whether to keep it.
    #[inline]
    pub(super) fn on_opened(&mut self, slot: u32, at: Nanos, rec: &mut Recorder) -> bool {
        let entry = &mut self.slots[slot as usize];
        if matches!(entry.intent, SlotIntent::Leave | SlotIntent::Vacate) {
            let vacate = std::mem::replace(&mut entry.intent, SlotIntent::None) == SlotIntent::Vacate;
            if entry.first_waiting().is_none() {
                let how = self.plan.http.close;
                self.stop_hold(slot, how, at, rec);
                if vacate {
                    self.give_back(slot);
                }
                return false;
            }
        }
        if entry.intent == SlotIntent::Hold {
            self.report_held(slot, at, true);
        }
        true
    }

    /// Handles a slot's connection that has ended or could not be opened, and that is not reopened
    /// automatically.
    #[inline]
    pub(super) fn on_hold_lost(&mut self, slot: u32, at: Nanos) {
        let entry = &mut self.slots[slot as usize];
        match entry.intent {
            SlotIntent::None => {}
            SlotIntent::Hold => {
                if entry.is_held_idle() {
                    self.release_io(slot);
                }
                self.report_held(slot, at, false);
            }
            SlotIntent::Leave => entry.intent = SlotIntent::None,
            SlotIntent::Vacate => {
                entry.intent = SlotIntent::None;
                self.give_back(slot);
            }
        }
    }

    fn report_held(&mut self, slot: u32, at: Nanos, open: bool) {
        self.held.push_back(HoldEvent { slot, at, open });
    }

    /// Whether this slot's connection can carry requests.
    pub(crate) fn is_open(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|entry| entry.state == ConnState::Open)
    }

    /// Whether requests are in flight on this slot, or wait for its connection.
    pub(crate) fn is_busy(&self, slot: u32) -> bool {
        self.slots.get(slot as usize).is_some_and(|entry| entry.sent() > 0 || entry.first_waiting().is_some())
    }

    /// Whether requests are in flight on this slot's open connection.
    fn is_busy_open(&self, slot: u32) -> bool {
        self.is_open(slot) && self.is_busy(slot)
    }

    /// Returns when the last opening of this slot's connection started.
    pub(crate) fn began(&self, slot: u32) -> Nanos {
        self.slots.get(slot as usize).map_or(Nanos(i64::MIN), |entry| entry.began)
    }

    /// Closes all connections by RST at the end of the run.
    pub(crate) fn close_all(&mut self, rec: &mut Recorder) {
        for entry in &mut self.slots {
            let Some(conn) = entry.conn.take() else { continue };
            self.driver.close(conn, Close::Rst);
            match entry.state {
                ConnState::Open => rec.closed(),
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
