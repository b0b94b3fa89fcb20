//! How sessions end, and what users do when they go.

use wavetank_plan::{Key, Nanos};

use super::{Ended, Kept, Live, Met, Part, Sessions, Traveller, Whose};
use crate::meeting_places::Waiting;
use crate::slab::Id;

impl Sessions {
    /// Session `id` is over.
    pub(super) fn end(&mut self, id: Id, run: bool) -> Option<Ended> {
        let Live { session, key, whose, part, idle, began, .. } = self.slab.remove(id)?;
        let farewell = part == Part::After && whose != Whose::Arrival;
        let failed = (!farewell).then_some(session.failed);
        if let Whose::User(user) = whose {
            if farewell {
                self.users[user as usize] = Traveller::default();
                self.farewells -= 1;
            } else {
                let iterations = session.identity.session + 1;
                // What he was to do first and did not come to the end of he does again.
                let settled = part != Part::Before;
                self.users[user as usize].keep(Kept { session, iterations, key, began, settled });
            }
        }
        Some(Ended { whose, key, idle, failed, run, place: id.place() as u32 })
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

    /// User `user` leaves: a session in which he only waits is cut. What it was counted under, whether a request of
    /// it failed, and where it waited for others.
    pub(crate) fn cut_waiting(&mut self, user: u32) -> Option<(Key, bool, Option<Waiting>)> {
        let id = self.of_user(user)?;
        if self.slab.get(id)?.part == Part::After {
            // He is gone already, and came back only to be sent away.
            return None;
        }
        let Live { session, key, part, began, meets, .. } = self.slab.remove(id)?;
        let (iterations, failed) = (session.identity.session + 1, session.failed);
        let settled = part == Part::Session;
        self.users[user as usize].keep(Kept { session, iterations, key, began, settled });
        let waiting = match meets {
            Met::Waits(waiting) => Some(waiting),
            Met::Alone | Met::Left { .. } => None,
        };
        Some((key, failed, waiting))
    }

    /// User `user` is about to leave: what he does at last begins, if there is anything and he has done what he does
    /// first.
    pub(crate) fn say_goodbye(&mut self, user: u32, now: Nanos) -> Option<Id> {
        let traveller = self.users.get_mut(user as usize)?;
        let key = traveller.kept.as_ref().filter(|kept| kept.settled)?.key;
        if self.journeys.scenarios[usize::from(key.scenario)].after.is_empty() {
            return None;
        }
        let mut session = traveller.kept.take()?.session;
        session.turn_to_next();
        let (whose, meets) = (Whose::User(user), Met::Alone);
        let (step, idle, asks, began) = (0, true, false, now);
        let live = Live { session, key, whose, part: Part::After, step, idle, asks, began, meets };
        let id = self.slab.insert(live);
        self.users[user as usize].live = Some(id);
        self.farewells += 1;
        Some(id)
    }

    /// User `user` has gone: nothing of him is kept.
    pub(crate) fn leave(&mut self, user: u32) {
        if let Some(traveller) = self.users.get_mut(user as usize)
            && let Some(live) = std::mem::take(traveller).live
        {
            debug_assert!(false, "user {user} is gone in the middle of a session");
            self.slab.remove(live);
        }
    }

    /// When the next session of `user` may begin at the earliest: a whole pace after his last one began.
    #[inline]
    pub(crate) fn earliest(&self, user: u32, scenario: u16) -> Option<Nanos> {
        let pace = self.plan.scenarios[usize::from(scenario)].pace?;
        let kept = self.users.get(user as usize)?.kept.as_ref()?;
        Some(kept.began.after(pace))
    }
}

impl Traveller {
    /// His session is over.
    fn keep(&mut self, kept: Kept) {
        self.live = None;
        match &mut self.kept {
            Some(place) => **place = kept,
            None => self.kept = Some(Box::new(kept)),
        }
    }
}
