//! How sessions end, and the steps that users run before they leave.

use wavetank_pace::TimerId;
use wavetank_plan::Key;
use wavetank_units::Nanos;

use super::{Ended, RendezvousState, SessionEntry, SessionOwner, SessionStage, Sessions};
use crate::rendezvous::RoundId;
use crate::slab::Id;

impl Sessions {
    /// Ends session `id`.
    pub(super) fn end(&mut self, id: Id, run: bool) -> Option<Ended> {
        let &SessionEntry { ref session, key, owner, part, idle, .. } = self.live(id)?;
        let farewell = part == SessionStage::After && owner != SessionOwner::Arrival;
        let failed = (!farewell).then_some(session.failed);
        match owner {
            SessionOwner::Arrival => drop(self.slab.remove(id)),
            SessionOwner::User(user) if farewell => {
                self.slab.remove(id);
                self.users[user as usize] = None;
                self.farewells -= 1;
            }
            SessionOwner::User(user) => self.rest(id, user),
        }
        Some(Ended { owner, key, idle, failed, run, index: id.index() as u32 })
    }

    /// Keeps the state of `user` for the next session after session `id`, under a new id.
    fn rest(&mut self, id: Id, user: u32) {
        let Some(id) = self.slab.rename(id) else { return };
        let Some(live) = self.slab.get_mut(id) else { return };
        // Steps that run first and were not completed are run again.
        live.settled = live.part != SessionStage::Before;
        (live.part, live.asks, live.meets) = (SessionStage::Between, false, RendezvousState::Alone);
        live.timer = TimerId::default();
        self.users[user as usize] = Some(id);
        self.resting += 1;
    }

    /// Ends session `id` early. `None`: its last steps are still to be run.
    pub(crate) fn abort(&mut self, id: Id) -> Option<Ended> {
        let live = self.slab.get_mut(id)?;
        let last = &self.journeys.scenarios[usize::from(live.key.scenario)].after;
        if live.part == SessionStage::Session && live.owner == SessionOwner::Arrival && !last.is_empty() {
            live.part = SessionStage::After;
            live.session.enter_next_list();
            return None;
        }
        self.end(id, false)
    }

    /// Cuts the session of user `user`, which leaves, if the session only waits and its end does
    /// not matter.
    ///
    /// Returns the key under which it was counted, whether one of its requests failed, and where it
    /// waited for others.
    pub(crate) fn cut_waiting(&mut self, user: u32) -> Option<(Key, bool, Option<RoundId>)> {
        self.unpark(user);
        let id = self.for_user(user)?;
        let &SessionEntry { ref session, key, part, meets, timer, .. } = self.live(id)?;
        if part == SessionStage::After {
            // The user is gone already, and returned only to be removed.
            return None;
        }
        let failed = session.failed;
        self.pauses.cancel(timer);
        self.rest(id, user);
        let waiting = match meets {
            RendezvousState::Waits(waiting) => Some(waiting),
            RendezvousState::Alone | RendezvousState::Left { .. } => None,
        };
        Some((key, failed, waiting))
    }

    /// Starts the last steps of user `user`, which is about to leave. This applies if there are any
    /// and the user has completed its first steps.
    pub(crate) fn start_last_steps(&mut self, user: u32, now: Nanos) -> Option<Id> {
        let id = (*self.users.get(user as usize)?)?;
        let live = self.slab.get_mut(id).filter(|live| live.part == SessionStage::Between && live.settled)?;
        if self.journeys.scenarios[usize::from(live.key.scenario)].after.is_empty() {
            return None;
        }
        live.session.enter_next_list();
        (live.part, live.step, live.idle, live.began) = (SessionStage::After, 0, true, now);
        self.resting -= 1;
        self.farewells += 1;
        Some(id)
    }

    /// Whether user `user` has left, and runs its last steps.
    pub(crate) fn runs_last_steps(&self, user: u32) -> bool {
        let id = self.users.get(user as usize).copied().flatten();
        id.and_then(|id| self.slab.get(id)).is_some_and(|live| live.part == SessionStage::After)
    }

    /// Removes all state of user `user`, which has left.
    pub(crate) fn remove_user(&mut self, user: u32) {
        self.unpark(user);
        let kept = self.users.get_mut(user as usize).and_then(Option::take);
        if let Some(live) = kept.and_then(|id| self.slab.remove(id)) {
            debug_assert!(
                live.part == SessionStage::Between,
                "user {user} has left in the middle of a session"
            );
            self.resting -= usize::from(live.part == SessionStage::Between);
        }
    }

    /// Returns the earliest start of the next session of `user`: one pace after the start of the
    /// last session.
    #[inline]
    pub(crate) fn earliest(&self, user: u32, scenario: u16) -> Option<Nanos> {
        let pace = self.plan.scenarios[usize::from(scenario)].pace?;
        let last = self.slab.get((*self.users.get(user as usize)?)?)?;
        Some(last.began.after(pace))
    }
}
