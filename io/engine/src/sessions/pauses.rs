//! Sessions that pause, and users who wait between two of them.
//!
//! Whoever is cut takes his timer with him: a million users who think and are sent away would else wake the load thread a
//! million times, for nobody.

use wavetank_pace::TimerId;
use wavetank_plan::Nanos;

use super::{SessionStage, Sessions};
use crate::slab::Id;

impl Sessions {
    /// Session `id` pauses until then.
    pub(crate) fn pause(&mut self, id: Id, until: Nanos) {
        if let Some(live) = self.slab.get_mut(id) {
            live.timer = self.pauses.insert(until, id);
        }
    }

    /// Who has paused long enough at `now`, and since when he is ready.
    pub(crate) fn take_ready(&mut self, now: Nanos) -> Option<(Nanos, Id)> {
        self.pauses.pop(now)
    }

    /// `user` begins no session before `until`. Nothing that he waited for before counts any more.
    pub(crate) fn park(&mut self, user: u32, until: Nanos) {
        let timer = self.parked.insert(until, user);
        if let Some(kept) = self.timer_of_resting(user) {
            let before = std::mem::replace(kept, timer);
            self.parked.cancel(before);
        }
    }

    /// Who has waited long enough for his next session at `now`, and since when he is ready.
    pub(crate) fn take_parked(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        if self.parked.is_empty() { None } else { self.parked.pop(now) }
    }

    /// Nobody waits for what `user` waits for between two sessions.
    pub(super) fn unpark(&mut self, user: u32) {
        if let Some(kept) = self.timer_of_resting(user) {
            let timer = std::mem::take(kept);
            self.parked.cancel(timer);
        }
    }

    /// When the next one has paused or waited long enough.
    pub(crate) fn next_pause_end(&mut self) -> Option<Nanos> {
        let parked = if self.parked.is_empty() { None } else { self.parked.next() };
        [self.pauses.next(), parked].into_iter().flatten().min()
    }

    /// What is kept of the timer of a user between two sessions.
    fn timer_of_resting(&mut self, user: u32) -> Option<&mut TimerId> {
        let id = (*self.users.get(user as usize)?)?;
        let live = self.slab.get_mut(id).filter(|live| live.part == SessionStage::Between)?;
        Some(&mut live.timer)
    }
}
