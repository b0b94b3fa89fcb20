//! How sessions end, and what users do when they go.

use wavetank_pace::TimerId;
use wavetank_plan::{Key, Nanos};

use super::{Ended, Live, Met, Part, Sessions, Whose};
use crate::meeting_places::Waiting;
use crate::slab::Id;

impl Sessions {
    /// Session `id` is over.
    pub(super) fn end(&mut self, id: Id, run: bool) -> Option<Ended> {
        let &Live { ref session, key, whose, part, idle, .. } = self.live(id)?;
        let farewell = part == Part::After && whose != Whose::Arrival;
        let failed = (!farewell).then_some(session.failed);
        match whose {
            Whose::Arrival => drop(self.slab.remove(id)),
            Whose::User(user) if farewell => {
                self.slab.remove(id);
                self.users[user as usize] = None;
                self.farewells -= 1;
            }
            Whose::User(user) => self.rest(id, user),
        }
        Some(Ended { whose, key, idle, failed, run, place: id.place() as u32 })
    }

    /// Session `id` of `user` is no more; what he keeps for the next one stays, under a name that nobody knows.
    fn rest(&mut self, id: Id, user: u32) {
        let Some(id) = self.slab.rename(id) else { return };
        let Some(live) = self.slab.get_mut(id) else { return };
        // What he was to do first and did not come to the end of he does again.
        live.settled = live.part != Part::Before;
        (live.part, live.asks, live.meets) = (Part::Between, false, Met::Alone);
        live.timer = TimerId::default();
        self.users[user as usize] = Some(id);
        self.resting += 1;
    }

    /// Session `id` is ended before its time. `None`: what its user does at last remains to be done.
    pub(crate) fn break_off(&mut self, id: Id) -> Option<Ended> {
        let live = self.slab.get_mut(id)?;
        let last = &self.journeys.scenarios[usize::from(live.key.scenario)].after;
        if live.part == Part::Session && live.whose == Whose::Arrival && !last.is_empty() {
            live.part = Part::After;
            live.session.turn_to_next();
            return None;
        }
        self.end(id, false)
    }

    /// User `user` leaves: a session in which he only waits is cut, and nobody waits for the end of that. What it was counted under, whether a request of
    /// it failed, and where it waited for others.
    pub(crate) fn cut_waiting(&mut self, user: u32) -> Option<(Key, bool, Option<Waiting>)> {
        self.unpark(user);
        let id = self.of_user(user)?;
        let &Live { ref session, key, part, meets, timer, .. } = self.live(id)?;
        if part == Part::After {
            // He is gone already, and came back only to be sent away.
            return None;
        }
        let failed = session.failed;
        self.pauses.cancel(timer);
        self.rest(id, user);
        let waiting = match meets {
            Met::Waits(waiting) => Some(waiting),
            Met::Alone | Met::Left { .. } => None,
        };
        Some((key, failed, waiting))
    }

    /// User `user` is about to leave: what he does at last begins, if there is anything and he has done what he does
    /// first.
    pub(crate) fn say_goodbye(&mut self, user: u32, now: Nanos) -> Option<Id> {
        let id = (*self.users.get(user as usize)?)?;
        let live = self.slab.get_mut(id).filter(|live| live.part == Part::Between && live.settled)?;
        if self.journeys.scenarios[usize::from(live.key.scenario)].after.is_empty() {
            return None;
        }
        live.session.turn_to_next();
        (live.part, live.step, live.idle, live.began) = (Part::After, 0, true, now);
        self.resting -= 1;
        self.farewells += 1;
        Some(id)
    }

    /// User `user` has gone: nothing of him is kept.
    pub(crate) fn leave(&mut self, user: u32) {
        self.unpark(user);
        let kept = self.users.get_mut(user as usize).and_then(Option::take);
        if let Some(live) = kept.and_then(|id| self.slab.remove(id)) {
            debug_assert!(live.part == Part::Between, "user {user} is gone in the middle of a session");
            self.resting -= usize::from(live.part == Part::Between);
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
