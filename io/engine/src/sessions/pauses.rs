//! Sessions that pause, and users that wait between two sessions.
//!
//! The timer of a session that is cut is cancelled with it. Otherwise, if a million thinking users
//! were removed, their timers would wake the load thread a million times for nothing.

use wavetank_pace::TimerId;
use wavetank_units::Nanos;

use super::{SessionStage, Sessions};
use crate::slab::Id;

impl Sessions {
    /// Pauses session `id` until then.
    pub(crate) fn pause(&mut self, id: Id, until: Nanos) {
        if let Some(live) = self.slab.get_mut(id) {
            live.timer = self.pauses.insert(until, id);
        }
    }

    /// Returns a session with a pause that is over at `now`, and since when it is ready.
    pub(crate) fn take_ready(&mut self, now: Nanos) -> Option<(Nanos, Id)> {
        self.pauses.pop(now)
    }

    /// Lets `user` start no session before `until`. This replaces any earlier wait.
    pub(crate) fn park(&mut self, user: u32, until: Nanos) {
        let timer = self.parked.insert(until, user);
        if let Some(kept) = self.timer_of_resting(user) {
            let before = std::mem::replace(kept, timer);
            self.parked.cancel(before);
        }
    }

    /// Returns a user that may start its next session at `now`, and since when it is ready.
    pub(crate) fn take_parked(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        if self.parked.is_empty() { None } else { self.parked.pop(now) }
    }

    /// Cancels the wait of `user` between two sessions.
    pub(super) fn unpark(&mut self, user: u32) {
        if let Some(kept) = self.timer_of_resting(user) {
            let timer = std::mem::take(kept);
            self.parked.cancel(timer);
        }
    }

    /// Returns when the next pause or wait ends.
    pub(crate) fn next_pause_end(&mut self) -> Option<Nanos> {
        let parked = if self.parked.is_empty() { None } else { self.parked.next() };
        [self.pauses.next(), parked].into_iter().flatten().min()
    }

    /// Returns the timer of a user between two sessions.
    fn timer_of_resting(&mut self, user: u32) -> Option<&mut TimerId> {
        let id = (*self.users.get(user as usize)?)?;
        let live = self.slab.get_mut(id).filter(|live| live.part == SessionStage::Between)?;
        Some(&mut live.timer)
    }
}
