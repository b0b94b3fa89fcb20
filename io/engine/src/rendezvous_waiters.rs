//! [`RendezvousWaiters`]: those of one load thread who wait for others.

use std::sync::Arc;

use wavetank_pace::{TimerId, Timers};
use wavetank_plan::Nanos;

use crate::rendezvous::{Quorum, RendezvousTable, RoundId, RoundRelease};
use crate::slab::Id;

/// See the module's description. No longer than there are sessions.
pub(crate) struct RendezvousWaiters {
    pub(crate) places: Arc<RendezvousTable>,
    /// Who waits where; one who has been taken out meanwhile stays named, and means nothing.
    groups: Vec<Group>,
    /// When the wait of rounds is over whose first is here.
    ends: Timers<(RoundId, Quorum)>,
    /// Users who have left: in which phase, counted from 1; 0: there, or not come yet. Empty where nobody cares.
    left: Vec<u16>,
    /// Whether somebody waits for everybody anywhere.
    cares: bool,
    any: bool,
}

/// Sessions that wait for each other.
pub(crate) struct Group {
    pub(crate) waiting: RoundId,
    pub(crate) sessions: Vec<Id>,
    /// The end of the wait, if the first of them is here.
    end: Option<TimerId>,
}

impl RendezvousWaiters {
    pub(crate) fn new(places: Arc<RendezvousTable>) -> Self {
        let (any, cares) = (places.any(), places.waits_for_everyone());
        Self { places, groups: Vec::new(), ends: Timers::new(), left: Vec::new(), cares, any }
    }

    /// Whether anybody waits for others anywhere.
    #[inline]
    pub(crate) const fn any(&self) -> bool {
        self.any
    }

    /// Whether it matters who leaves.
    #[inline]
    pub(crate) const fn tracks_departures(&self) -> bool {
        self.cares
    }

    /// Session `id` is at a spot and waits there for so long, from the first to come.
    pub(crate) fn arrive(&mut self, id: Id, spot: u32, company: Quorum, wait: Nanos, now: Nanos) -> RoundId {
        let (waiting, first) = self.places.arrive(spot, company, now);
        let end = first.then(|| self.ends.insert(now.after(wait), (waiting, company)));
        match self.groups.iter_mut().find(|group| group.waiting == waiting) {
            Some(group) => {
                group.sessions.push(id);
                group.end = group.end.or(end);
            }
            None => self.groups.push(Group { waiting, sessions: vec![id], end }),
        }
        waiting
    }

    /// When the next wait is over.
    pub(crate) fn next_end(&mut self) -> Option<Nanos> {
        if self.ends.is_empty() { None } else { self.ends.next() }
    }

    /// A group that has gone at `now`, and how.
    pub(crate) fn pop_released(&mut self, now: Nanos) -> Option<(Group, RoundRelease)> {
        while let Some((at, (waiting, company))) = self.ends.pop(now) {
            self.places.wait_is_over(waiting, company, at.max(now));
        }
        let places = &self.places;
        let mut groups = self.groups.iter().enumerate();
        let (at, gone) = groups.find_map(|(at, group)| Some((at, places.released(group.waiting, now)?)))?;
        let group = self.groups.swap_remove(at);
        if let Some(end) = group.end {
            self.ends.cancel(end);
        }
        Some((group, gone))
    }

    /// User `user` of the thread, number `number` of a track's, has left in `phase`.
    pub(crate) fn leave(&mut self, user: u32, number: u64, of: (u16, u16, u16), now: Nanos) {
        let (track, phase, scenario) = of;
        let user = user as usize;
        if self.left.len() <= user {
            self.left.resize(user + 1, 0);
        }
        if std::mem::replace(&mut self.left[user], phase + 1) != phase + 1 {
            self.places.count_out(track, phase, scenario, number, false, now);
        }
    }

    /// The same user is there, perhaps again.
    pub(crate) fn rejoin(&mut self, user: u32, number: u64, of: (u16, u16, u16), now: Nanos) {
        let (track, phase, scenario) = of;
        let Some(left) = self.left.get_mut(user as usize) else { return };
        if std::mem::take(left) == phase + 1 {
            self.places.count_out(track, phase, scenario, number, true, now);
        }
    }
}
