//! Users who come, go on and leave.

use wavetank_driver::Driver;
use wavetank_plan::Nanos;

use super::Worker;
use crate::exchange::{Offered, Owner};
use crate::users::Next;

impl<D: Driver> Worker<D> {
    /// From `at` on so many of a track's users are wanted; those who are too many leave when they are ready.
    pub(super) fn want_users(&mut self, track: u16, at: Nanos, users: u64) {
        let before = self.users.want(track, users);
        if users == before + 1 {
            if let Some(user) = self.users.join_last(track) {
                self.iterate(user, at);
            }
            self.rec.set_users(self.users.count());
        } else if users > before {
            self.start_users(track, at);
        }
    }

    /// Everybody who is wanted and not there starts at `at`.
    pub(super) fn start_users(&mut self, track: u16, at: Nanos) {
        for user in self.users.join(track) {
            self.iterate(user, at);
        }
        self.rec.set_users(self.users.count());
    }

    /// `user` is ready for its next iteration at `at`: it is offered, or the user leaves.
    #[inline]
    pub(super) fn iterate(&mut self, user: u32, at: Nanos) -> Option<Offered> {
        if self.pacer.is_ended(at) {
            self.users.leave(user);
            self.rec.set_users(self.users.count());
            return None;
        }
        let Next::Session(key) = self.users.next(user, self.pacer.on_run_clock(at)) else {
            self.rec.set_users(self.users.count());
            return None;
        };
        let offered = Offered { key, intended: at, owner: Owner::User(user) };
        if !self.exchanges.offer(offered, &mut self.rec) {
            self.users.leave(user);
            return None;
        }
        self.pacer.ready.push_back(offered);
        Some(offered)
    }
}
