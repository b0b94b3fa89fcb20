//! Between two sessions of a user, and after his last one.

use wavetank_driver::Driver;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_plan::{Key, Nanos};

use super::Worker;
use crate::messages::{EndOfRun, Message};

impl<D: Driver> Worker<D> {
    /// `user` begins a session at `at`.
    pub(super) fn start_session(&mut self, key: Key, user: u32, at: Nanos) {
        let of = self.users.number(user);
        let session = self.sessions.start(key, user, of, at);
        self.rec.session_offered(key.phase, key.scenario);
        self.rec.session_started(key.phase, key.scenario);
        self.advance_session(session, at);
    }

    /// `user` is ready for his next session at `at`; where sessions keep a pace, it may have to wait.
    pub(super) fn next_session(&mut self, user: u32, at: Nanos) {
        let earliest = self.sessions.earliest(user, self.users.scenario_of(user));
        // Once the load is over nobody waits for a session that does not come.
        let earliest = earliest.filter(|&earliest| earliest > at && !self.pacer.is_ended(at));
        match earliest {
            None => drop(self.start_iteration(user, at)),
            Some(earliest) if self.users.phase_of(user, self.pacer.to_run_time(earliest)).is_some() => {
                self.sessions.park(user, earliest);
            }
            // Nothing is planned any more by then, so there is nothing to wait for.
            Some(_) => {
                self.users.leave(user);
                self.rec.set_users(self.users.count());
                self.on_user_left(user, at, self.pacer.has_load_after(at));
            }
        }
    }

    /// Users who have waited long enough begin; all of them, when the load is over before its time. Whether there were
    /// any.
    pub(super) fn end_parking(&mut self, now: Nanos) -> bool {
        let ended = self.pacer.is_ended(now);
        for number in 0..WORK_PER_TURN_MAX {
            let until = if ended { FAR } else { now };
            let Some((at, user)) = self.sessions.take_parked(until) else { return number > 0 };
            // He may have gone and come again meanwhile, and be at it.
            let waits = self.users.has_holding_users() && self.is_blocked(user);
            if self.users.is_present(user) && self.sessions.for_user(user).is_none() && !waits {
                self.next_session(user, if ended { now } else { at });
            }
        }
        true
    }

    /// `user` has left: nobody waits for him, and he does what he does at last. `release`: his connection is let go then.
    pub(super) fn on_user_left(&mut self, user: u32, at: Nanos, release: bool) {
        self.mark_left(user, at);
        if self.sessions.has_multi_step()
            && !self.pacer.is_ended(at)
            && let Some(last) = self.sessions.start_last_steps(user, at)
        {
            return self.advance_session(last, at);
        }
        if release {
            self.release(user, at);
        }
    }

    /// `user` has left in the middle of a session in which he only waits: it ends there. Whether there was one.
    pub(super) fn cut_pause(&mut self, user: u32, now: Nanos) -> bool {
        let Some((key, failed, waiting)) = self.sessions.cut_waiting(user) else { return false };
        self.rec.session_ended(key.phase, key.scenario, failed);
        if let Some(waiting) = waiting {
            self.gathering.places.depart(waiting, now);
        }
        true
    }

    /// Somebody wants the run to end: the first on this thread to want it is heard.
    #[cold]
    pub(super) fn end_run(&mut self, wish: EndOfRun) {
        if !std::mem::replace(&mut self.end_is_wanted, true) {
            self.outbox.send(Message::EndRun(wish));
        }
    }
}

/// Later than anything.
const FAR: Nanos = Nanos(i64::MAX / 2);
