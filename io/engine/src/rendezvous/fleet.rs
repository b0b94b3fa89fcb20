//! Rendezvous of users on several hosts: what a host reports, and the releases it receives.

use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_units::Nanos;

use super::{Quorum, QuorumSize, RendezvousTable, RoundRelease, halves};

/// The users of this host at one point of a rendezvous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingUsers {
    /// The point. Every host of a fleet gives the same points the same numbers.
    pub point: u32,
    /// This host's number of the current round.
    pub round: u32,
    /// The number of its users that wait.
    pub present: u32,
    /// The phase under which they are counted.
    pub phase: u16,
    /// Whom they wait for.
    pub quorum: FleetQuorum,
    /// Whether the time limit of the wait has passed.
    pub is_over: bool,
    /// Rounds of the whole fleet that this host has seen released.
    pub releases: u32,
    /// The users of this host that are waited for, for each phase.
    pub members: Vec<PhaseCount>,
}

/// Whom the users at a point wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetQuorum {
    /// This number of users, themselves included.
    Users(u64),
    /// All users of this phase.
    Phase(u16),
    /// The number is unknown, so only the time limit ends the wait.
    Unknown,
}

/// The users of a phase on this host that may come to a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseCount {
    /// Index of the phase.
    pub phase: u16,
    /// All of them but those that have left and will not return.
    pub users: u64,
}

/// The release of waiting users, decided for all hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetRelease {
    /// The point.
    pub point: u32,
    /// This host's number of the round. `None`: none of its users is released.
    pub round: Option<u32>,
    /// The fleet's number of the round, from 0.
    pub number: u32,
    /// The instant at which all continue, on the thread's clock.
    pub at: Nanos,
    /// The number of users that were waited for; 0 if it is unknown.
    pub of: u64,
    /// The phase under which the release is counted.
    pub phase: u16,
    /// Whether the time limit of the wait ended it.
    pub by_wait: bool,
}

/// What a slot knows for the report of its host.
#[derive(Debug, Default)]
pub(super) struct FleetSlot {
    /// The user who came last: its phase in the upper bits, a [`kind`] and a number.
    last_quorum: AtomicU64,
    /// The round with the expired wait, counted from 1.
    expired: AtomicU64,
    /// Rounds of the whole fleet that were released.
    releases: AtomicU64,
}

/// How the low bits of [`FleetSlot::last_quorum`] are read.
mod kind {
    pub(super) const BITS: u32 = 46;
    pub(super) const UNKNOWN: u64 = 0;
    pub(super) const NUMBER: u64 = 1;
    pub(super) const EVERYBODY: u64 = 2;
}

impl FleetSlot {
    /// Records whom the arriving user waits for.
    pub(super) fn note(&self, quorum: Quorum) {
        let (kind, number) = match quorum.of {
            QuorumSize::Unknown => (kind::UNKNOWN, 0),
            QuorumSize::Number(of) => (kind::NUMBER, of.min((1 << kind::BITS) - 1)),
            QuorumSize::Everybody(phase) => (kind::EVERYBODY, phase.into()),
        };
        let packed = u64::from(quorum.phase) << 48 | kind << kind::BITS | number;
        self.last_quorum.store(packed, Ordering::SeqCst);
    }

    /// Records that the wait of `round` has lasted too long.
    pub(super) fn wait_is_over(&self, round: u32) {
        self.expired.store(u64::from(round) + 1, Ordering::SeqCst);
    }
}

impl RendezvousTable {
    /// Returns what the controller needs to know of this host, if the load has several hosts: each
    /// point where users wait or may be waited for.
    pub(crate) fn waiting(&self) -> Vec<WaitingUsers> {
        if !self.is_shared {
            return Vec::new();
        }
        let points = (0_u32..).zip(&self.spots);
        points
            .map(|(point, slot)| {
                let (round, present) = halves(slot.state.load(Ordering::SeqCst));
                let packed = slot.fleet.last_quorum.load(Ordering::SeqCst);
                let (kind, number) = (packed >> kind::BITS & 0b11, packed & ((1 << kind::BITS) - 1));
                let members = slot.crowd.iter().map(|crowd| PhaseCount {
                    phase: crowd.phase,
                    users: crowd.all.saturating_sub(crowd.gone.load(Ordering::SeqCst)),
                });
                WaitingUsers {
                    point,
                    round,
                    present,
                    phase: (packed >> 48) as u16,
                    quorum: match kind {
                        kind::NUMBER => FleetQuorum::Users(number),
                        kind::EVERYBODY => FleetQuorum::Phase(number as u16),
                        _ => FleetQuorum::Unknown,
                    },
                    is_over: slot.fleet.expired.load(Ordering::SeqCst) == u64::from(round) + 1,
                    releases: slot.fleet.releases.load(Ordering::SeqCst) as u32,
                    members: members.collect(),
                }
            })
            .filter(|users| users.present > 0 || users.releases > 0 || !users.members.is_empty())
            .collect()
    }

    /// Releases the users that wait in a round, if they still do. A round that is unknown or was
    /// released before is ignored.
    pub(crate) fn release(&self, release: &FleetRelease) {
        let Some(slot) = self.spots.get(release.point as usize).filter(|_| self.is_shared) else { return };
        slot.fleet.releases.fetch_max(u64::from(release.number) + 1, Ordering::SeqCst);
        loop {
            let seen = slot.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if release.round != Some(round) || present == 0 {
                return;
            }
            if slot.close(seen) {
                let &FleetRelease { at, of, phase, by_wait, number, .. } = release;
                return slot.publish(round, &RoundRelease { at, of, phase, by_wait, round: number });
            }
        }
    }
}
