//! [`RendezvousWaiters`]: the sessions of one load thread that wait for others.

use std::sync::Arc;

use wavetank_pace::{TimerId, Timers};
use wavetank_units::Nanos;

use crate::rendezvous::{Quorum, RendezvousTable, RoundId, RoundRelease};
use crate::slab::Id;

/// The waiting sessions; see the module documentation. There are at most as many entries as
/// sessions.
pub(crate) struct RendezvousWaiters {
    pub(crate) table: Arc<RendezvousTable>,
    /// The waiting groups. A session that was removed in the meantime keeps its entry, which is
    /// then ignored.
    groups: Vec<Group>,
    /// The timeouts of rounds with their first user on this thread.
    ends: Timers<(RoundId, Quorum)>,
    /// By user: the phase in which it has left, counted from 1; 0 if it is present or has not
    /// started. Empty if departures do not matter.
    left: Vec<u16>,
    /// Whether any user waits for all others at any rendezvous.
    cares: bool,
    any: bool,
}

/// Sessions that wait for each other.
pub(crate) struct Group {
    pub(crate) waiting: RoundId,
    pub(crate) sessions: Vec<Id>,
    /// The timeout, if the first of them is on this thread.
    end: Option<TimerId>,
}

impl RendezvousWaiters {
    pub(crate) fn new(table: Arc<RendezvousTable>) -> Self {
        let (any, cares) = (table.any(), table.waits_for_everyone());
        Self { table, groups: Vec::new(), ends: Timers::new(), left: Vec::new(), cares, any }
    }

    /// Whether there is any rendezvous.
    #[inline]
    pub(crate) const fn any(&self) -> bool {
        self.any
    }

    /// Whether departures matter.
    #[inline]
    pub(crate) const fn tracks_departures(&self) -> bool {
        self.cares
    }

    /// Adds session `id` to a slot, where it waits for at most `wait` from the first arrival on.
    pub(crate) fn arrive(&mut self, id: Id, spot: u32, company: Quorum, wait: Nanos, now: Nanos) -> RoundId {
        let (waiting, first) = self.table.arrive(spot, company, now);
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

    /// Returns when the next wait times out.
    pub(crate) fn next_end(&mut self) -> Option<Nanos> {
        if self.ends.is_empty() { None } else { self.ends.next() }
    }

    /// Returns a group that was released at `now`, and how.
    pub(crate) fn pop_released(&mut self, now: Nanos) -> Option<(Group, RoundRelease)> {
        while let Some((at, (waiting, company))) = self.ends.pop(now) {
            self.table.wait_is_over(waiting, company, at.max(now));
        }
        let table = &self.table;
        let mut groups = self.groups.iter().enumerate();
        let (at, gone) = groups.find_map(|(at, group)| Some((at, table.released(group.waiting, now)?)))?;
        let group = self.groups.swap_remove(at);
        if let Some(end) = group.end {
            self.ends.cancel(end);
        }
        Some((group, gone))
    }

    /// Records that user `user` of the thread, number `number` of its track, has left in `phase`.
    pub(crate) fn leave(&mut self, user: u32, number: u64, of: (u16, u16, u16), now: Nanos) {
        let (track, phase, scenario) = of;
        let user = user as usize;
        if self.left.len() <= user {
            self.left.resize(user + 1, 0);
        }
        if std::mem::replace(&mut self.left[user], phase + 1) != phase + 1 {
            self.table.count_out(track, phase, scenario, number, false, now);
        }
    }

    /// Records that the same user is present, possibly again.
    pub(crate) fn rejoin(&mut self, user: u32, number: u64, of: (u16, u16, u16), now: Nanos) {
        let (track, phase, scenario) = of;
        let Some(left) = self.left.get_mut(user as usize) else { return };
        if std::mem::take(left) == phase + 1 {
            self.table.count_out(track, phase, scenario, number, true, now);
        }
    }
}
