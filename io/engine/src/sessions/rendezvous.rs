//! [`RendezvousState`]: sessions that wait for others, and what is told of them when they have gone.

use wavetank_plan::{Key, Nanos};

use super::{SessionOwner, Sessions};
use crate::rendezvous::RoundId;
use crate::slab::Id;

/// Where a session stands with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RendezvousState {
    /// On its own.
    #[default]
    Alone,
    /// It waits.
    Waits(RoundId),
    /// It left with others, under that number of that rendezvous, in that phase; its next request tells how soon.
    Left { phase: u16, place: u16, number: u64 },
}

impl Sessions {
    /// Session `id` waits for others there.
    pub(crate) fn waits(&mut self, id: Id, waiting: RoundId) {
        if let Some(live) = self.slab.get_mut(id) {
            live.meets = RendezvousState::Waits(waiting);
        }
    }

    /// Whoever of `all` still waits goes on at `at`, having left with others as `left` says. How many those are.
    pub(crate) fn release(&mut self, all: &[Id], at: Nanos, left: RendezvousState) -> u64 {
        let mut gone = 0;
        for &id in all {
            if let Some(live) = self.slab.get_mut(id) {
                live.meets = left;
                live.timer = self.pauses.insert(at, id);
                gone += 1;
            }
        }
        gone
    }

    /// The first request of session `id` since it left others has come to its end: where it left them.
    pub(crate) fn take_left(&mut self, id: Id) -> Option<(u16, u16, u64)> {
        match std::mem::take(&mut self.slab.get_mut(id)?.meets) {
            RendezvousState::Left { phase, place, number } => Some((phase, place, number)),
            RendezvousState::Alone | RendezvousState::Waits(_) => None,
        }
    }

    /// What session `id` is counted under, and whose it is.
    pub(crate) fn owner(&self, id: Id) -> Option<(Key, SessionOwner)> {
        self.slab.get(id).map(|live| (live.key, live.whose))
    }

    /// The key of the last request of session `id`.
    pub(crate) fn last_request(&self, id: Id) -> Option<Key> {
        self.slab.get(id).map(|live| Key { step: live.step, ..live.key })
    }
}
