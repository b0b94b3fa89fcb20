//! [`Holding`]: connections that users keep, and users who are too many.

use std::collections::VecDeque;

use wavetank_driver::Driver;
use wavetank_pace::Share;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Close, Nanos, Plan};

use super::Worker;
use crate::connections::Held;
use crate::offered::Owner;
use crate::reopening::Reopening;

/// A held connection is opened at most once in this time: a target that ends every connection at once, or refuses all,
/// is not to be flooded by those who come again.
const REOPEN: Nanos = Nanos::SECOND;

/// What is to be done about users who hold connections, a turn's work at a time. No list is longer than there are
/// users.
pub(crate) struct Holding {
    /// Users whose connection is to be opened, in the order in which it was planned.
    opening: VecDeque<ToOpen>,
    /// Users who may be too many, the last to come first.
    leaving: VecDeque<u32>,
    /// Users whose connection is to be opened again.
    reopening: Reopening,
    /// The load was ended before its time, and everybody has been told.
    ended: bool,
}

/// A user whose connection is to be opened.
struct ToOpen {
    user: u32,
    /// When the plan wanted it; `None`: it is opened again, whenever that is possible.
    planned: Option<Nanos>,
}

impl Holding {
    /// Nobody holds anything yet, of the `share` of `plan` that is this thread's.
    pub(crate) fn new(plan: &Plan, share: Share) -> Self {
        let (opening, leaving) = (VecDeque::new(), VecDeque::new());
        Self { opening, leaving, reopening: Reopening::new(plan, share), ended: false }
    }

    /// Whether there is work for the next turn; opening only where that is possible now.
    #[inline]
    pub(super) fn has_work(&self, may_open: bool) -> bool {
        !self.leaving.is_empty() || (may_open && !self.opening.is_empty())
    }

    /// When one of them is to be opened again.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Nanos> {
        self.reopening.next()
    }
}

impl<D: Driver> Worker<D> {
    /// A user comes to hold a connection, which the plan wants at `planned`.
    pub(super) fn hold_for(&mut self, user: u32, planned: Nanos) {
        self.holding.opening.push_back(ToOpen { user, planned: Some(planned) });
    }

    /// Users are too many; each leaves as soon as he has no request under way.
    pub(super) fn dismiss(&mut self, users: impl IntoIterator<Item = u32>) {
        self.holding.leaving.extend(users);
    }

    /// The load has ended before its time: nobody is wanted any more who holds a connection, or who could think or wait
    /// for others for longer than anybody wants to wait for the end.
    pub(super) fn dismiss_everybody(&mut self) {
        if std::mem::replace(&mut self.holding.ended, true) {
            return;
        }
        let all = if self.sessions.is_any() { self.users.end_all() } else { self.users.end_holding() };
        self.dismiss(all);
    }

    /// A turn's work for those who hold connections and those who are too many. Whether there was any.
    #[cold]
    pub(super) fn see_to_held(&mut self, now: Nanos) -> bool {
        if self.pacer.is_ended(now) {
            self.dismiss_everybody();
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
            if !self.exchanges.connections.may_open_ahead() {
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
        if !self.users.is_present(user) || self.users.is_wanted(user) || self.is_in_request(user) {
            return;
        }
        self.users.leave(user);
        self.rec.set_users(self.users.count());
        if self.sessions.is_any() {
            self.cut_pause(user, now);
        }
        self.part_from(user, now, true);
    }

    /// A user has left before the load is over: nobody needs his connection any more.
    #[cold]
    pub(super) fn release(&mut self, user: u32, now: Nanos) {
        self.sessions.leave(user);
        self.leave_further_seats(user, now);
        if let Some(seat) = self.users.empty_seat(user) {
            let how = if self.users.holds(user) { Close::Rst } else { self.plan.http.close };
            self.exchanges.connections.let_go(seat, how, now, &mut self.rec);
        }
    }

    fn open_held(&mut self, ToOpen { user, planned }: ToOpen, now: Nanos) {
        if !self.users.is_present(user) || !self.users.is_wanted(user) {
            return;
        }
        let at = self.pacer.on_run_clock(now);
        let Some(phase) = self.users.phase_of(user, at) else { return };
        let target = self.home_of_user(user);
        let before = self.rec.openings();
        self.exchanges.connections.hold(self.users.seat(user), target, phase, &mut self.rec);
        if let Some(planned) = planned
            && self.rec.openings() > before
        {
            self.rec.opening_lag(now.since(planned));
            self.holding.reopening.yield_to_planned(now);
        }
    }

    /// What connections have told of those that are held.
    #[cold]
    pub(super) fn heard_of_held(&mut self) {
        while let Some(Held { seat, at, open }) = self.exchanges.connections.held.pop_front() {
            let Some(user) = self.users.holder(seat) else { continue };
            if !self.users.is_present(user) {
                self.exchanges.connections.let_go(seat, Close::Rst, at, &mut self.rec);
            } else if !open {
                let again = self.exchanges.connections.began(seat).after(REOPEN).max(at);
                self.holding.reopening.insert(again, user);
            } else if !self.users.is_wanted(user) {
                self.dismiss([user]);
            } else if !self.is_in_session(user) && !self.is_silent(user) {
                // Ready as soon as there is what he sends on.
                self.next_session(user, at);
            }
        }
    }

    /// Whether a user who holds a connection must wait for it before his next session.
    pub(super) fn must_wait(&self, user: u32) -> bool {
        self.users.holds(user)
            && self.users.is_wanted(user)
            && !self.exchanges.connections.is_open(self.users.seat(user))
    }

    /// Whether a user's session is under way.
    fn is_in_session(&self, user: u32) -> bool {
        self.sessions.of_user(user).is_some() || self.is_in_request(user)
    }

    /// Whether a user's request is under way.
    fn is_in_request(&self, user: u32) -> bool {
        if let Some(id) = self.sessions.of_user(user) {
            return self.sessions.is_asking(id);
        }
        let his = |offered: &crate::offered::Offered| offered.owner == Owner::User(user);
        self.exchanges.connections.is_busy(self.users.seat(user)) || self.pacer.ready.iter().any(his)
    }

    /// Whether a user only holds his connection and sends nothing.
    fn is_silent(&self, user: u32) -> bool {
        self.plan.scenarios[usize::from(self.users.scenario_of(user))].steps.is_empty()
    }
}
