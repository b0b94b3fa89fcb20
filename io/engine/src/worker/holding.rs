//! Connections that users hold, and users above the target number.

use wavetank_driver::Driver;
use wavetank_plan::Close;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::Worker;
use super::hold_manager::ToOpen;
use crate::connections::HoldEvent;
use crate::offered::Owner;

/// The minimum time between two openings of a held connection. A target that ends or refuses every
/// connection must not be flooded by reconnects.
const REOPEN: Nanos = Nanos::SECOND;

impl<D: Driver> Worker<D> {
    /// Adds a user that starts to hold a connection, which the plan intends at `planned`.
    pub(super) fn hold_for(&mut self, user: u32, planned: Nanos) {
        self.holding.opening.push_back(ToOpen { user, planned: Some(planned) });
    }

    /// Retires users above the target number. Each leaves as soon as it has no request in flight.
    pub(super) fn retire(&mut self, users: impl IntoIterator<Item = u32>) {
        self.holding.leaving.extend(users);
    }

    /// Retires users after the load was ended early: those that hold a connection, and those that
    /// may think or wait for others for longer than the run should take to end.
    pub(super) fn retire_all(&mut self) {
        if std::mem::replace(&mut self.holding.ended, true) {
            return;
        }
        let all =
            if self.sessions.has_multi_step() { self.users.end_all() } else { self.users.end_holding() };
        self.retire(all);
    }

    /// Does one turn's work for users that hold connections and users above the target number.
    /// Returns whether there was any.
    #[cold]
    pub(super) fn service_holds(&mut self, now: Nanos) -> bool {
        if self.pacer.is_ended(now) {
            self.retire_all();
        }
        let mut worked = false;
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(user) = self.holding.leaving.pop_front() else { break };
            worked = true;
            self.leave_unless_wanted(user, now);
        }
        for _ in 0..WORK_PER_TURN_MAX {
            let Some(user) = self.holding.reopening.pop(now) else { break };
            worked = true;
            self.holding.opening.push_back(ToOpen { user, planned: None });
        }
        for _ in 0..WORK_PER_TURN_MAX {
            if !self.exchanges.connections.can_preopen() {
                break;
            }
            let Some(next) = self.holding.opening.pop_front() else { break };
            worked = true;
            self.open_held(next, now);
        }
        worked
    }

    /// Removes a user that is above the target number and has nothing in flight. Otherwise it
    /// leaves when its request has ended.
    fn leave_unless_wanted(&mut self, user: u32, now: Nanos) {
        if !self.users.is_present(user) || self.users.is_active(user) || self.is_in_request(user) {
            return;
        }
        self.users.leave(user);
        self.rec.set_users(self.users.count());
        if self.sessions.has_multi_step() {
            self.cut_pause(user, now);
        }
        self.on_user_left(user, now, true);
    }

    /// Releases the connection of a user that left before the load is over.
    #[cold]
    pub(super) fn release(&mut self, user: u32, now: Nanos) {
        self.sessions.remove_user(user);
        self.release_extra_slots(user, now);
        if let Some(slot) = self.users.vacate_slot(user) {
            let how = if self.users.holds(user) { Close::Rst } else { self.plan.http.close };
            self.exchanges.connections.stop_hold(slot, how, now, &mut self.rec);
        }
    }

    fn open_held(&mut self, ToOpen { user, planned }: ToOpen, now: Nanos) {
        if !self.users.is_present(user) || !self.users.is_active(user) {
            return;
        }
        let at = self.pacer.to_run_time(now);
        let Some(phase) = self.users.phase_of(user, at) else { return };
        let target = self.home_target(user);
        let before = self.rec.openings();
        self.exchanges.connections.start_hold(self.users.slot(user), target, phase, &mut self.rec);
        if let Some(planned) = planned
            && self.rec.openings() > before
        {
            self.rec.opening_lag(now.since(planned));
            self.holding.reopening.defer_to_planned(now);
        }
    }

    /// Handles the events of held connections.
    #[cold]
    pub(super) fn drain_hold_events(&mut self) {
        while let Some(HoldEvent { slot, at, open }) = self.exchanges.connections.held.pop_front() {
            let Some(user) = self.users.holder(slot) else { continue };
            if !self.users.is_present(user) {
                // Its last steps need the connection, which is released after them.
                if !self.is_in_session(user) {
                    self.exchanges.connections.stop_hold(slot, Close::Rst, at, &mut self.rec);
                }
            } else if !open {
                let again = self.exchanges.connections.began(slot).after(REOPEN).max(at);
                self.holding.reopening.insert(again, user);
            } else if !self.users.is_active(user) {
                self.retire([user]);
            } else if !self.is_in_session(user) && !self.is_silent(user) {
                // The user is ready as soon as its connection is.
                self.next_session(user, at);
            }
        }
    }

    /// Whether a user that holds a connection must wait for it before its next session.
    pub(super) fn is_blocked(&self, user: u32) -> bool {
        self.users.holds(user)
            && self.users.is_active(user)
            && !self.exchanges.connections.is_open(self.users.slot(user))
    }

    /// Whether a session of the user is in progress.
    fn is_in_session(&self, user: u32) -> bool {
        self.sessions.for_user(user).is_some() || self.is_in_request(user)
    }

    /// Whether a request of the user is in flight.
    fn is_in_request(&self, user: u32) -> bool {
        if let Some(id) = self.sessions.for_user(user) {
            return self.sessions.is_asking(id);
        }
        let his = |offered: &crate::offered::OfferedRequest| offered.owner == Owner::User(user);
        self.exchanges.connections.is_busy(self.users.slot(user)) || self.pacer.ready.iter().any(his)
    }

    /// Whether a user only holds its connection and sends nothing.
    fn is_silent(&self, user: u32) -> bool {
        self.plan.scenarios[usize::from(self.users.scenario_of(user))].steps.is_empty()
    }
}
