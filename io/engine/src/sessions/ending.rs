//! How sessions end, and what users do when they go.

use wavetank_pace::TimerId;
use wavetank_plan::{Key, Nanos};

use super::{Ended, RendezvousState, SessionEntry, SessionOwner, SessionStage, Sessions};
use crate::rendezvous::RoundId;
use crate::slab::Id;

impl Sessions {
    /// Session `id` is over.
    pub(super) fn end(&mut self, id: Id, run: bool) -> Option<Ended> {
        let &SessionEntry { ref session, key, whose, part, idle, .. } = self.live(id)?;
        let farewell = part == SessionStage::After && whose != SessionOwner::Arrival;
        let failed = (!farewell).then_some(session.failed);
        match whose {
            SessionOwner::Arrival => drop(self.slab.remove(id)),
            SessionOwner::User(user) if farewell => {
                self.slab.remove(id);
                self.users[user as usize] = None;
                self.farewells -= 1;
            }
            SessionOwner::User(user) => self.rest(id, user),
        }
        Some(Ended { whose, key, idle, failed, run, place: id.place() as u32 })
    }

    /// Session `id` of `user` is no more; what he keeps for the next one stays, under a name that nobody knows.
    fn rest(&mut self, id: Id, user: u32) {
        let Some(id) = self.slab.rename(id) else { return };
        let Some(live) = self.slab.get_mut(id) else { return };
        // What he was to do first and did not come to the end of he does again.
        live.settled = live.part != SessionStage::Before;
        (live.part, live.asks, live.meets) = (SessionStage::Between, false, RendezvousState::Alone);
        live.timer = TimerId::default();
        self.users[user as usize] = Some(id);
        self.resting += 1;
    }

    /// Session `id` is ended before its time. `None`: what its user does at last remains to be done.
    pub(crate) fn abort(&mut self, id: Id) -> Option<Ended> {
        let live = self.slab.get_mut(id)?;
        let last = &self.journeys.scenarios[usize::from(live.key.scenario)].after;
        if live.part == SessionStage::Session && live.whose == SessionOwner::Arrival && !last.is_empty() {
            live.part = SessionStage::After;
            live.session.enter_next_list();
            return None;
        }
        self.end(id, false)
    }

    /// User `user` leaves: a session in which he only waits is cut, and nobody waits for the end of that. What it was counted under, whether a request of
    /// it failed, and where it waited for others.
    pub(crate) fn cut_waiting(&mut self, user: u32) -> Option<(Key, bool, Option<RoundId>)> {
        self.unpark(user);
        let id = self.for_user(user)?;
        let &SessionEntry { ref session, key, part, meets, timer, .. } = self.live(id)?;
        if part == SessionStage::After {
            // He is gone already, and came back only to be sent away.
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

    /// User `user` is about to leave: what he does at last begins, if there is anything and he has done what he does
    /// first.
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

    /// User `user` has gone: nothing of him is kept.
    pub(crate) fn remove_user(&mut self, user: u32) {
        self.unpark(user);
        let kept = self.users.get_mut(user as usize).and_then(Option::take);
        if let Some(live) = kept.and_then(|id| self.slab.remove(id)) {
            debug_assert!(
                live.part == SessionStage::Between,
                "user {user} is gone in the middle of a session"
            );
            self.resting -= usize::from(live.part == SessionStage::Between);
        }
    }

    /// When the next session of `user` may begin at the earliest: a whole pace after his last one began.
    #[inline]
    pub(crate) fn earliest(&self, user: u32, scenario: u16) -> Option<Nanos> {
        let pace = self.plan.scenarios[usize::from(scenario)].pace?;
        let last = self.slab.get((*self.users.get(user as usize)?)?)?;
        Some(last.began.after(pace))
    }
}
