//! [`RendezvousState`]: sessions that wait for others, and what is recorded after their release.

use wavetank_plan::Key;
use wavetank_units::Nanos;

use super::{SessionOwner, Sessions};
use crate::rendezvous::RoundId;
use crate::slab::Id;

/// The state of a session with respect to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RendezvousState {
    /// Not waiting.
    #[default]
    Alone,
    /// It waits.
    Waits(RoundId),
    /// It was released with others, in the rendezvous with this phase, place and number. Its next
    /// request shows how soon it continued.
    Left { phase: u16, place: u16, number: u64 },
}

impl Sessions {
    /// Makes session `id` wait for others there.
    pub(crate) fn waits(&mut self, id: Id, waiting: RoundId) {
        if let Some(live) = self.slab.get_mut(id) {
            live.meets = RendezvousState::Waits(waiting);
        }
    }

    /// Releases all sessions of `all` that still wait, at `at`, with the new state `left`. Returns
    /// how many those are.
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

    /// Returns where session `id` left others, once its first request after that has ended.
    pub(crate) fn take_left(&mut self, id: Id) -> Option<(u16, u16, u64)> {
        match std::mem::take(&mut self.slab.get_mut(id)?.meets) {
            RendezvousState::Left { phase, place, number } => Some((phase, place, number)),
            RendezvousState::Alone | RendezvousState::Waits(_) => None,
        }
    }

    /// Returns the key under which session `id` is counted, and its owner.
    pub(crate) fn owner(&self, id: Id) -> Option<(Key, SessionOwner)> {
        self.slab.get(id).map(|live| (live.key, live.owner))
    }

    /// Returns the key of the last request of session `id`.
    pub(crate) fn last_request(&self, id: Id) -> Option<Key> {
        self.slab.get(id).map(|live| Key { step: live.step, ..live.key })
    }
}
