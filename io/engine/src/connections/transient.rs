//! Temporary slots: for sessions of the open loop, and for users that turn to a further target.

use wavetank_driver::Driver;
use wavetank_plan::Close;
use wavetank_units::Nanos;

use super::Connections;
use crate::conn_slot::{ConnState, LastUse, SlotIntent};
use crate::recorder::Recorder;

impl<D: Driver> Connections<D> {
    /// Whether a session of `scenario` in the open loop has its own connection.
    #[inline]
    pub(crate) fn has_dedicated_connection(&self, scenario: u16) -> bool {
        self.own[usize::from(scenario)]
    }

    /// Allocates a temporary slot.
    pub(crate) fn allocate_transient(&mut self) -> u32 {
        let slot = self.vacant.pop();
        self.ensure_slot(slot);
        slot
    }

    /// Releases a slot: closes its connection and frees the slot once the close completes. No
    /// request of its owner may be in flight on it.
    pub(crate) fn release_transient(&mut self, slot: u32, how: Close, at: Nanos, rec: &mut Recorder) {
        debug_assert!(!self.is_busy(slot), "the owner of slot {slot} has a request in flight");
        self.stop_hold(slot, how, at, rec);
        let entry = &mut self.slots[slot as usize];
        match entry.state {
            ConnState::Closed => self.give_back(slot),
            ConnState::Connecting
            | ConnState::Tunnelling
            | ConnState::Securing
            | ConnState::Greeting
            | ConnState::Open => {
                entry.intent = SlotIntent::Vacate;
            }
        }
    }

    /// Closes the connection of a slot if it leads to a target other than `target`, which the owner
    /// uses from now on.
    #[inline]
    pub(crate) fn retarget(&mut self, slot: u32, target: u16, rec: &mut Recorder) {
        let Some(entry) = self.slots.get(slot as usize) else { return };
        if entry.target != target && entry.state == ConnState::Open && !self.is_busy(slot) {
            let at = self.driver.now();
            self.stop_hold(slot, self.plan.http.close, at, rec);
        }
    }

    /// Returns a slot that has no owner and no connection.
    pub(super) fn give_back(&mut self, slot: u32) {
        // The next owner is a different client, so it must not resume this TLS session.
        self.driver.forget(slot);
        self.slots[slot as usize].last_use = LastUse::Nothing;
        self.vacant.push(slot);
    }
}
