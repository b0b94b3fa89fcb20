//! The time between two sessions of a user, and after its last one.

use wavetank_driver::Driver;
use wavetank_plan::Key;
use wavetank_plan::constants::WORK_PER_TURN_MAX;
use wavetank_units::Nanos;

use super::Worker;
use crate::messages::{EndOfRun, Message};

impl<D: Driver> Worker<D> {
    /// Starts a session of `user` at `at`.
    pub(super) fn start_session(&mut self, key: Key, user: u32, at: Nanos) {
        let of = self.users.number(user);
        let session = self.sessions.start(key, user, of, at);
        self.rec.session_offered(key.phase, key.scenario);
        self.rec.session_started(key.phase, key.scenario);
        self.advance_session(session, at);
    }

    /// Handles `user`, which is ready for its next session at `at`. If sessions have a pace, it may
    /// have to wait.
    pub(super) fn next_session(&mut self, user: u32, at: Nanos) {
        let earliest = self.sessions.earliest(user, self.users.scenario_of(user));
        // After the load is over, no user waits for a session that will not start.
        let earliest = earliest.filter(|&earliest| earliest > at && !self.pacer.is_ended(at));
        match earliest {
            None => drop(self.start_iteration(user, at)),
            Some(earliest) if self.users.phase_of(user, self.pacer.to_run_time(earliest)).is_some() => {
                self.sessions.park(user, earliest);
            }
            // No session is planned after that, so there is nothing to wait for.
            Some(_) => {
                self.users.leave(user);
                self.rec.set_users(self.users.count());
                self.on_user_left(user, at, self.pacer.has_load_after(at));
            }
        }
    }

    /// Starts the sessions of users that have waited long enough, or of all waiting users if the
    /// load was ended early. Returns whether there were any.
    pub(super) fn end_parking(&mut self, now: Nanos) -> bool {
        let ended = self.pacer.is_ended(now);
        for number in 0..WORK_PER_TURN_MAX {
            let until = if ended { FAR } else { now };
            let Some((at, user)) = self.sessions.take_parked(until) else { return number > 0 };
            // The user may have left and returned in the meantime, and be in a session.
            let waits = self.users.has_holding_users() && self.is_blocked(user);
            if self.users.is_present(user) && self.sessions.for_user(user).is_none() && !waits {
                self.next_session(user, if ended { now } else { at });
            }
        }
        true
    }

    /// Handles `user`, which has left: others no longer wait for it, and it runs its last steps.
    /// `release`: its connection is released after that.
    pub(super) fn on_user_left(&mut self, user: u32, at: Nanos, release: bool) {
        self.mark_left(user, at);
        if self.sessions.runs_last_steps(user) {
            // It had left before, and came back meanwhile. Their end releases its state.
            return;
        }
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

    /// Ends the session of `user`, which has left, if the session only waits. Returns whether there
    /// was one.
    pub(super) fn cut_pause(&mut self, user: u32, now: Nanos) -> bool {
        let Some((key, failed, waiting)) = self.sessions.cut_waiting(user) else { return false };
        self.rec.session_ended(key.phase, key.scenario, failed);
        if let Some(waiting) = waiting {
            self.gathering.table.depart(waiting, now);
        }
        true
    }

    /// Requests the end of the run; only the first request on this thread counts.
    #[cold]
    pub(super) fn end_run(&mut self, intent: EndOfRun) {
        if !std::mem::replace(&mut self.end_is_wanted, true) {
            self.outbox.send(Message::EndRun(intent));
        }
    }
}

/// Later than any instant.
const FAR: Nanos = Nanos(i64::MAX / 2);
