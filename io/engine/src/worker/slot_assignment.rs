//! Which connection slot a session uses.
//!
//! A user has one slot for as long as it is present. Sessions of the open model, and users that
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
        let seat = self.exchanges.connections.allocate_transient();
        let offered = OfferedRequest { owner: Owner::Transient(seat), ..offered };
        if let Some(resolved) = self.exchanges.begin(offered, Some(seat), now, &mut self.rec) {
            self.on_slot_left(seat, resolved.at);
        }
    }

    /// Releases a slot after its owner has gone.
    #[cold]
    pub(super) fn on_slot_left(&mut self, seat: u32, at: Nanos) {
        self.exchanges.connections.release_transient(seat, self.plan.http.close, at, &mut self.rec);
    }

    /// Opens a connection ahead of its phase: on this slot of a user, or a shared one.
    pub(super) fn preopen_slot(&mut self, seat: Option<u32>, phase: u16) {
        let user = seat.and_then(|seat| self.users.first_on_slot(seat));
        let target = match user {
            Some(user) => self.home_target(user),
            None => self.sessions.first_home(self.plan.phases[usize::from(phase)].mix.pick(0)),
        };
        let connections = &mut self.exchanges.connections;
        match seat {
            Some(seat) => connections.preopen(seat, target, phase, &mut self.rec),
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
        let (list, place) = match self.sessions.user(id) {
            Some(user) if target == self.sessions.first_target(id) => {
                let seat = self.users.slot(user);
                self.exchanges.connections.retarget(seat, target, &mut self.rec);
                return Some(seat);
            }
            Some(user) => (&mut self.seating.users, user as usize),
            None => (&mut self.seating.arrivals, id.place()),
        };
        if list.len() <= place {
            list.resize_with(place + 1, AssignedSlots::default);
        }
        let given = &mut list[place];
        let known = given.to(target);
        known.or_else(|| {
            let seat = self.exchanges.connections.allocate_transient();
            given.add(target, seat);
            Some(seat)
        })
    }

    /// Closes the connections that belonged to a session that has ended.
    pub(super) fn release_slots(&mut self, ended: &Ended, at: Nanos) {
        match ended.whose {
            SessionOwner::Arrival => {
                while let Some(seat) =
                    self.seating.arrivals.get_mut(ended.place as usize).and_then(AssignedSlots::pop)
                {
                    self.on_slot_left(seat, at);
                }
            }
            SessionOwner::User(user) => {
                let connection = self.plan.scenarios[usize::from(ended.key.scenario)].connection;
                if connection == ConnectionOwner::Session {
                    self.release_extra_slots(user, at);
                    let seat = self.users.slot(user);
                    self.exchanges.connections.stop_hold(seat, self.plan.http.close, at, &mut self.rec);
                }
            }
        }
    }

    /// Releases the slots of a user other than its first one.
    pub(super) fn release_extra_slots(&mut self, user: u32, at: Nanos) {
        while let Some(seat) = self.seating.users.get_mut(user as usize).and_then(AssignedSlots::pop) {
            self.on_slot_left(seat, at);
        }
    }
}
