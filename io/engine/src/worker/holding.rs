//! [`HoldManager`]: connections that users keep, and users who are too many.

use std::collections::VecDeque;

use wavetank_driver::Driver;
use wavetank_pace::Partition;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Close, Nanos, Plan};

use super::Worker;
use crate::connections::HoldEvent;
use crate::offered::Owner;
use crate::reconnect::ReconnectQueue;

/// A held connection is opened at most once in this time: a target that ends every connection at once, or refuses all,
/// is not to be flooded by those who come again.
const REOPEN: Nanos = Nanos::SECOND;

/// What is to be done about users who hold connections, a turn's work at a time. No list is longer than there are
/// users.
pub(crate) struct HoldManager {
    /// Users whose connection is to be opened, in the order in which it was planned.
    opening: VecDeque<ToOpen>,
    /// Users who may be too many, the last to come first.
    leaving: VecDeque<u32>,
    /// Users whose connection is to be opened again.
    reopening: ReconnectQueue,
    /// The load was ended before its time, and everybody has been told.
    ended: bool,
}

/// A user whose connection is to be opened.
struct ToOpen {
    user: u32,
    /// When the plan wanted it; `None`: it is opened again, whenever that is possible.
    planned: Option<Nanos>,
}

impl HoldManager {
    /// Nobody holds anything yet, of the `share` of `plan` that is this thread's.
    pub(crate) fn new(plan: &Plan, share: Partition) -> Self {
        let (opening, leaving) = (VecDeque::new(), VecDeque::new());
        Self { opening, leaving, reopening: ReconnectQueue::new(plan, share), ended: false }
    }

    /// Whether there is work for the next turn; opening only where that is possible now.
    #[inline]
    pub(super) fn has_work(&self, may_open: bool) -> bool {
        !self.leaving.is_empty() || (may_open && !self.opening.is_empty())
    }

    /// When one of them is to be opened again.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Nanos> {
        self.reopening.next_deadline()
    }
}

impl<D: Driver> Worker<D> {
    /// A user comes to hold a connection, which the plan wants at `planned`.
    pub(super) fn hold_for(&mut self, user: u32, planned: Nanos) {
        self.holding.opening.push_back(ToOpen { user, planned: Some(planned) });
    }

    /// Users are too many; each leaves as soon as he has no request under way.
    pub(super) fn retire(&mut self, users: impl IntoIterator<Item = u32>) {
        self.holding.leaving.extend(users);
    }

    /// The load has ended before its time: nobody is wanted any more who holds a connection, or who could think or wait
    /// for others for longer than anybody wants to wait for the end.
    pub(super) fn retire_all(&mut self) {
        if std::mem::replace(&mut self.holding.ended, true) {
            return;
        }
        let all =
            if self.sessions.has_multi_step() { self.users.end_all() } else { self.users.end_holding() };
        self.retire(all);
    }

    /// A turn's work for those who hold connections and those who are too many. Whether there was any.
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

    /// A user leaves if too many are there and he has nothing under way: else he does when that has ended.
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

    /// A user has left before the load is over: nobody needs his connection any more.
    #[cold]
    pub(super) fn release(&mut self, user: u32, now: Nanos) {
        self.sessions.remove_user(user);
        self.release_extra_slots(user, now);
        if let Some(seat) = self.users.vacate_slot(user) {
            let how = if self.users.holds(user) { Close::Rst } else { self.plan.http.close };
            self.exchanges.connections.stop_hold(seat, how, now, &mut self.rec);
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

    /// What connections have told of those that are held.
    #[cold]
    pub(super) fn drain_hold_events(&mut self) {
        while let Some(HoldEvent { seat, at, open }) = self.exchanges.connections.held.pop_front() {
            let Some(user) = self.users.holder(seat) else { continue };
            if !self.users.is_present(user) {
                self.exchanges.connections.stop_hold(seat, Close::Rst, at, &mut self.rec);
            } else if !open {
                let again = self.exchanges.connections.began(seat).after(REOPEN).max(at);
                self.holding.reopening.insert(again, user);
            } else if !self.users.is_active(user) {
                self.retire([user]);
            } else if !self.is_in_session(user) && !self.is_silent(user) {
                // Ready as soon as there is what he sends on.
                self.next_session(user, at);
            }
        }
    }

    /// Whether a user who holds a connection must wait for it before his next session.
    pub(super) fn is_blocked(&self, user: u32) -> bool {
        self.users.holds(user)
            && self.users.is_active(user)
            && !self.exchanges.connections.is_open(self.users.slot(user))
    }

    /// Whether a user's session is under way.
    fn is_in_session(&self, user: u32) -> bool {
        self.sessions.for_user(user).is_some() || self.is_in_request(user)
    }

    /// Whether a user's request is under way.
    fn is_in_request(&self, user: u32) -> bool {
        if let Some(id) = self.sessions.for_user(user) {
            return self.sessions.is_asking(id);
        }
        let his = |offered: &crate::offered::OfferedRequest| offered.owner == Owner::User(user);
        self.exchanges.connections.is_busy(self.users.slot(user)) || self.pacer.ready.iter().any(his)
    }

    /// Whether a user only holds his connection and sends nothing.
    fn is_silent(&self, user: u32) -> bool {
        self.plan.scenarios[usize::from(self.users.scenario_of(user))].steps.is_empty()
    }
}
