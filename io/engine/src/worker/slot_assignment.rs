//! Which connection slot a session uses.
//!
//! A user has one slot for as long as it is present. Sessions of the open loop, and users that
//! turn to a further target, get slots on first use and release them when they leave.

use wavetank_driver::Driver;
use wavetank_plan::{ConnectionOwner, Key};
use wavetank_units::Nanos;

use super::Worker;
use super::assigned_slots::AssignedSlots;
use crate::offered::{OfferedRequest, Owner};
use crate::sessions::{Ended, SessionOwner};
use crate::slab::Id;

impl<D: Driver> Worker<D> {
    /// Starts a session that is one request and nothing else, with its own connection.
    #[cold]
    pub(super) fn begin_transient(&mut self, offered: OfferedRequest, now: Nanos) {
        let slot = self.exchanges.connections.allocate_transient();
        let offered = OfferedRequest { owner: Owner::Transient(slot), ..offered };
        if let Some(resolved) = self.exchanges.begin(offered, Some(slot), now, &mut self.rec) {
            self.on_slot_left(slot, resolved.at);
        }
    }

    /// Releases a slot after its owner has gone.
    #[cold]
    pub(super) fn on_slot_left(&mut self, slot: u32, at: Nanos) {
        self.exchanges.connections.release_transient(slot, self.plan.http.close, at, &mut self.rec);
    }

    /// Opens a connection ahead of its phase: on this slot of a user, or a shared one.
    pub(super) fn preopen_slot(&mut self, slot: Option<u32>, phase: u16) {
        let user = slot.and_then(|slot| self.users.first_on_slot(slot));
        let target = match user {
            Some(user) => self.home_target(user),
            None => self.sessions.first_home(self.plan.phases[usize::from(phase)].mix.pick(0)),
        };
        let connections = &mut self.exchanges.connections;
        match slot {
            Some(slot) => connections.preopen(slot, target, phase, &mut self.rec),
            None => connections.preopen_shared(target, phase, &mut self.rec),
        }
    }

    /// Returns the target of the first request of `user`, to which its permanent slot leads.
    pub(super) fn home_target(&self, user: u32) -> u16 {
        self.sessions.first_target_of_user(self.users.scenario_of(user), self.users.number(user))
    }

    /// Returns the slot on which session `id` sends the request of this key (`None`: any shared
    /// one), and the target.
    pub(super) fn slot_for_session(&mut self, id: Id, key: Key) -> (Option<u32>, u16) {
        let target = self.sessions.target(id, key.step);
        (self.allocate_slot(id, key.scenario, target), target)
    }

    /// Returns the slot on which session `id` reaches `target`; `None`: any shared one.
    pub(super) fn allocate_slot(&mut self, id: Id, scenario: u16, target: u16) -> Option<u32> {
        if self.plan.scenarios[usize::from(scenario)].connection == ConnectionOwner::Shared {
            return None;
        }
        let (list, index) = match self.sessions.user(id) {
            Some(user) if target == self.sessions.first_target(id) => {
                let slot = self.users.slot(user);
                self.exchanges.connections.retarget(slot, target, &mut self.rec);
                return Some(slot);
            }
            Some(user) => (&mut self.slots.users, user as usize),
            None => (&mut self.slots.arrivals, id.index()),
        };
        if list.len() <= index {
            list.resize_with(index + 1, AssignedSlots::default);
        }
        let given = &mut list[index];
        let known = given.to(target);
        known.or_else(|| {
            let slot = self.exchanges.connections.allocate_transient();
            given.add(target, slot);
            Some(slot)
        })
    }

    /// Closes the connections that belonged to a session that has ended.
    pub(super) fn release_slots(&mut self, ended: &Ended, at: Nanos) {
        match ended.owner {
            SessionOwner::Arrival => {
                while let Some(slot) =
                    self.slots.arrivals.get_mut(ended.index as usize).and_then(AssignedSlots::pop)
                {
                    self.on_slot_left(slot, at);
                }
            }
            SessionOwner::User(user) => {
                let connection = self.plan.scenarios[usize::from(ended.key.scenario)].connection;
                if connection == ConnectionOwner::Session {
                    self.release_extra_slots(user, at);
                    let slot = self.users.slot(user);
                    self.exchanges.connections.stop_hold(slot, self.plan.http.close, at, &mut self.rec);
                }
            }
        }
    }

    /// Releases the slots of a user other than its first one.
    pub(super) fn release_extra_slots(&mut self, user: u32, at: Nanos) {
        while let Some(slot) = self.slots.users.get_mut(user as usize).and_then(AssignedSlots::pop) {
            self.on_slot_left(slot, at);
        }
    }
}
