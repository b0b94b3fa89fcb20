//! Users who come, go on and leave.

use wavetank_driver::Driver;
use wavetank_plan::Nanos;

use super::Worker;
use crate::offered::{Offered, Owner};
use crate::resolved::Resolved;
use crate::users::Next;

impl<D: Driver> Worker<D> {
    /// From `at` on so many of a track's users are wanted; those who are too many leave when they are ready.
    pub(super) fn want_users(&mut self, track: u16, at: Nanos, users: u64) {
        let before = self.users.want(track, users);
        if users == before + 1 {
            let joined = self.users.join_last(track);
            self.come(track, joined, at);
        } else if users > before {
            self.start_users(track, at);
        } else {
            let too_many = self.users.too_many(track, before);
            self.dismiss(too_many);
        }
    }

    /// Everybody who is wanted and not there starts at `at`.
    pub(super) fn start_users(&mut self, track: u16, at: Nanos) {
        let joined = self.users.join(track);
        self.come(track, joined, at);
    }

    /// Those who have joined begin: with a session, or with the connection that they are to hold.
    fn come(&mut self, track: u16, joined: impl IntoIterator<Item = u32>, at: Nanos) {
        let hold = self.users.is_hold(track);
        for user in joined {
            self.count_in(user, at);
            if hold {
                self.hold_for(user, at);
            } else if self.sessions.of_user(user).is_none() {
                self.iterate(user, at);
            }
        }
        self.rec.set_users(self.users.count());
    }

    /// What came of a request, told by any but the connections of a run without sessions: see
    /// [`take_in`](Self::take_in), which has its place there.
    #[cold]
    pub(super) fn resolved(&mut self, resolved: Resolved) {
        self.take_in(resolved);
    }

    /// `user` is ready for its next iteration at `at`: it is offered, or the user leaves.
    #[inline]
    pub(super) fn iterate(&mut self, user: u32, at: Nanos) -> Option<Offered> {
        if self.pacer.is_ended(at) {
            self.users.leave(user);
            self.rec.set_users(self.users.count());
            self.count_out(user, at);
            return None;
        }
        let key = match self.users.next(user, self.pacer.on_run_clock(at)) {
            Next::Session(key) => key,
            next => {
                self.rec.set_users(self.users.count());
                let release = next == Next::Leave || (next == Next::Over && self.pacer.goes_on_after(at));
                self.part_from(user, at, release);
                return None;
            }
        };
        if !self.sessions.is_plain_of_user(key.scenario) {
            self.start_session(key, user, at);
            return None;
        }
        let offered = Offered { key, intended: at, owner: Owner::User(user) };
        if !self.exchanges.offer(offered, &mut self.rec) {
            self.users.leave(user);
            return None;
        }
        self.pacer.ready.push_back(offered);
        Some(offered)
    }
}
