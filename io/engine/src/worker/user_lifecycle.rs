//! How users start, continue and leave.

use wavetank_driver::Driver;
use wavetank_units::Nanos;

use super::Worker;
use crate::completed::CompletedRequest;
use crate::offered::{OfferedRequest, Owner};
use crate::users::UserAction;

impl<D: Driver> Worker<D> {
    /// Sets the target number of a track's users from `at` on. Users above it leave when they are
    /// ready.
    pub(super) fn set_user_count(&mut self, track: u16, at: Nanos, users: u64) {
        let before = self.users.set_wanted(track, users);
        if users == before + 1 {
            let joined = self.users.join_last(track);
            self.come(track, joined, at);
        } else if users > before {
            self.start_users(track, at);
        } else {
            let too_many = self.users.surplus(track, before);
            self.retire(too_many);
        }
    }

    /// Starts all users below the target number that are not present, at `at`.
    pub(super) fn start_users(&mut self, track: u16, at: Nanos) {
        let joined = self.users.join(track);
        self.come(track, joined, at);
    }

    /// Starts users that have joined: with a session, or with the connection that they hold.
    fn come(&mut self, track: u16, joined: impl IntoIterator<Item = u32>, at: Nanos) {
        let hold = self.users.is_hold(track);
        for user in joined {
            self.mark_present(user, at);
            if hold {
                self.hold_for(user, at);
            } else if self.sessions.for_user(user).is_none() {
                self.start_iteration(user, at);
            }
        }
        self.rec.set_users(self.users.count());
    }

    /// As [`on_completed`](Self::on_completed), not inlined, for callers that are rare.
    #[cold]
    pub(super) fn resolved(&mut self, resolved: CompletedRequest) {
        self.on_completed(resolved);
    }

    /// Handles `user`, which is ready for its next iteration at `at`: it is offered, or the user
    /// leaves.
    #[inline]
    pub(super) fn start_iteration(&mut self, user: u32, at: Nanos) -> Option<OfferedRequest> {
        if self.pacer.is_ended(at) {
            self.users.leave(user);
            self.rec.set_users(self.users.count());
            self.mark_left(user, at);
            return None;
        }
        let key = match self.users.next(user, self.pacer.to_run_time(at)) {
            UserAction::Session(key) => key,
            next => {
                self.rec.set_users(self.users.count());
                let release =
                    next == UserAction::Leave || (next == UserAction::Over && self.pacer.has_load_after(at));
                self.on_user_left(user, at, release);
                return None;
            }
        };
        if !self.sessions.is_single_request_for_user(key.scenario) {
            self.start_session(key, user, at);
            return None;
        }
        let offered = OfferedRequest { key, intended: at, owner: Owner::User(user) };
        if !self.exchanges.admit(offered, &mut self.rec) {
            self.users.leave(user);
            return None;
        }
        self.pacer.ready.push_back(offered);
        Some(offered)
    }
}
