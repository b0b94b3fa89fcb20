//! [`RendezvousTable`]: where users of all load threads wait for each other.
//!
//! The run has one table for all threads, made of atomics alone, so no thread ever blocks another.
//! The last user to arrive fixes the instant at which all continue. The other threads see it when
//! they check, which they do in every turn in which one of their users waits. The table knows no
//! sessions, only how many of them wait where.
//!
//! In a fleet users of all hosts wait for each other. Then no thread closes a round: the host
//! reports who waits, and closes the round when its controller says so (`fleet.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_pace::Partition;
use wavetank_plan::Plan;
use wavetank_units::Nanos;

use crate::sleeper::HybridSleep;
use fleet::FleetSlot;
use members::{PhaseMembers, crowd, waits_for_all};

mod fleet;
mod members;

pub use fleet::{FleetQuorum, FleetRelease, PhaseCount, WaitingUsers};

/// The time from the last arrival to the release, if there are several threads. Each thread has
/// checked once more by then.
const LEAD: Nanos = Nanos(HybridSleep::NAP.0 + 5_000_000);
/// The number of rounds of a slot that are remembered.
///
/// Only a thread that stalls during this many rounds misses one. Its users then continue when it
/// checks again.
const ROUNDS: u32 = 16;

/// The rendezvous of all threads; see the module documentation.
pub(crate) struct RendezvousTable {
    /// For each rendezvous, one slot for users that wait for a fixed number. It is followed by one
    /// slot for each track, with users that wait for all others.
    spots: Vec<RendezvousSlot>,
    tracks: usize,
    /// For each scenario, the rendezvous at which its users wait for all others.
    visits: Vec<Vec<u16>>,
    lead: Nanos,
    /// Whether other hosts have users of the same load, so that the controller ends each wait.
    is_shared: bool,
}

/// The users that wait for each other.
struct RendezvousSlot {
    /// Number of the current round (upper half), and how many users are there (lower half).
    state: AtomicU64,
    /// The users that may come, if all of them are waited for.
    crowd: Vec<PhaseMembers>,
    rounds: [Round; ROUNDS as usize],
    fleet: FleetSlot,
}

/// A round that was released.
struct Round {
    /// The instant in microseconds (lower bits), and the lowest bits of the round's number (upper
    /// bits).
    at: AtomicU64,
    /// The number of users that were waited for.
    of: AtomicU64,
    /// The phase in the upper bits; 1 in the lowest: the wait timed out.
    how: AtomicU64,
    /// The number under which the release is recorded: that of the round, or of the fleet's.
    number: AtomicU64,
}

const MICROS_BITS: u32 = 48;

/// Identifies a group of users that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundId {
    pub(crate) spot: u32,
    pub(crate) round: u32,
}

/// The users that are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quorum {
    /// The phase under which the waiting user's session is counted.
    pub(crate) phase: u16,
    pub(crate) of: QuorumSize,
}

/// The number of users that are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuorumSize {
    /// This many.
    Number(u64),
    /// All users of that phase.
    Everybody(u16),
    /// The number is unknown, so only the timeout ends the wait.
    Unknown,
}

impl Quorum {
    const fn everybody(phase: u16) -> Self {
        Self { phase, of: QuorumSize::Everybody(phase) }
    }
}

/// The release of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundRelease {
    /// The instant, on the thread's clock.
    pub(crate) at: Nanos,
    pub(crate) of: u64,
    pub(crate) phase: u16,
    pub(crate) by_wait: bool,
    /// The round's number, counted over all hosts.
    pub(crate) round: u32,
}

impl RendezvousTable {
    /// Creates the rendezvous of `plan` for users of `share`, on this many threads.
    pub(crate) fn new(plan: &Plan, share: Partition, threads: u64) -> Self {
        let tracks = plan.tracks();
        let places = u16::try_from(plan.shared.rendezvous.len()).unwrap_or(u16::MAX);
        let visits: Vec<Vec<u16>> = plan
            .scenarios
            .iter()
            .map(|scenario| {
                let lists = [&scenario.before, &scenario.journey, &scenario.after];
                (0..places).filter(|&place| lists.iter().any(|list| waits_for_all(list, place))).collect()
            })
            .collect();
        let mut spots = Vec::new();
        for place in 0..places {
            spots.push(RendezvousSlot::new(Vec::new()));
            for (number, track) in (0_u16..).zip(&tracks) {
                let comes = |scenario: u16| visits[usize::from(scenario)].contains(&place);
                spots.push(RendezvousSlot::new(crowd(plan, number, track, share, comes)));
            }
        }
        let lead = if threads > 1 { LEAD } else { Nanos::ZERO };
        Self { spots, tracks: tracks.len(), visits, lead, is_shared: share != Partition::WHOLE }
    }

    /// Returns the slot for users of a track (`None`: arrivals) that wait at `place`, for a number
    /// of users or for all of them.
    pub(crate) fn point_index(&self, place: u16, track: Option<u16>, everybody: bool) -> u32 {
        let own = track.filter(|_| everybody).map_or(0, |track| usize::from(track) + 1);
        (usize::from(place) * (self.tracks + 1) + own) as u32
    }

    /// Returns the rendezvous of a slot.
    pub(crate) fn rendezvous_index(&self, spot: u32) -> u16 {
        (spot as usize / (self.tracks + 1)) as u16
    }

    /// Returns a number for round `round` of a slot that is unique within its rendezvous.
    pub(crate) fn number(&self, spot: u32, round: u32) -> u64 {
        let own = spot as usize % (self.tracks + 1);
        u64::from(round) * (self.tracks as u64 + 1) + own as u64
    }

    /// Whether there is any rendezvous.
    pub(crate) fn any(&self) -> bool {
        !self.spots.is_empty()
    }

    /// Whether any user waits for all others at any rendezvous. Only then do departures matter.
    pub(crate) fn waits_for_everyone(&self) -> bool {
        self.spots.iter().any(|spot| !spot.crowd.is_empty())
    }

    /// Adds one more user. Returns the round in which it waits, and whether it is the first one
    /// there.
    pub(crate) fn arrive(&self, spot: u32, company: Quorum, now: Nanos) -> (RoundId, bool) {
        let here = &self.spots[spot as usize];
        if self.is_shared {
            here.fleet.note(company);
        }
        let mut seen = here.state.load(Ordering::SeqCst);
        let round = loop {
            let (round, present) = halves(seen);
            let last = !self.is_shared && u64::from(present) + 1 >= here.wanted(company.of);
            let next = if last { whole(round.wrapping_add(1), 0) } else { whole(round, present + 1) };
            match here.state.compare_exchange_weak(seen, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    if last {
                        self.go(spot, round, company, now, false);
                    }
                    break round;
                }
                Err(other) => seen = other,
            }
        };
        // Another user may have left between reading the target number and entering.
        self.release_if_complete(spot, company, now);
        (RoundId { spot, round }, halves(seen).1 == 0)
    }

    /// Releases the users if all of them are there.
    pub(crate) fn release_if_complete(&self, spot: u32, company: Quorum, now: Nanos) {
        let here = &self.spots[spot as usize];
        // In a fleet the controller decides.
        if self.is_shared {
            return;
        }
        loop {
            let seen = here.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if present == 0 || u64::from(present) < here.wanted(company.of) {
                return;
            }
            if here.close(seen) {
                return self.go(spot, round, company, now, false);
            }
        }
    }

    /// Ends the wait of a round: its users are released, if they were not released before.
    pub(crate) fn wait_is_over(&self, waiting: RoundId, company: Quorum, now: Nanos) {
        let here = &self.spots[waiting.spot as usize];
        loop {
            let seen = here.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if round != waiting.round || present == 0 {
                return;
            }
            if self.is_shared {
                return here.fleet.wait_is_over(round);
            }
            if here.close(seen) {
                return self.go(waiting.spot, round, company, now, true);
            }
        }
    }

    /// Removes one waiting user from its round.
    pub(crate) fn depart(&self, waiting: RoundId, now: Nanos) {
        let here = &self.spots[waiting.spot as usize];
        loop {
            let seen = here.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if round != waiting.round || present == 0 {
                return;
            }
            // The next user after the last one has left starts a new round, with a new timeout.
            if present == 1 {
                if here.close(seen) {
                    let none = Quorum { phase: 0, of: QuorumSize::Unknown };
                    return self.go(waiting.spot, round, none, now, false);
                }
            } else if here.step(seen, whole(round, present - 1)) {
                return;
            }
        }
    }

    /// Returns when and how the round was released, if it was by `now`. `None`: users are still
    /// arriving, or the instant is about to be published.
    pub(crate) fn released(&self, waiting: RoundId, now: Nanos) -> Option<RoundRelease> {
        let here = &self.spots[waiting.spot as usize];
        let ahead = halves(here.state.load(Ordering::SeqCst)).0.wrapping_sub(waiting.round);
        if ahead == 0 {
            return None;
        }
        let round = &here.rounds[(waiting.round % ROUNDS) as usize];
        let at = round.at.load(Ordering::Acquire);
        if ahead > ROUNDS {
            // The entry was overwritten, so the round was released long ago.
            return Some(RoundRelease { at: now, of: 0, phase: 0, by_wait: false, round: waiting.round });
        }
        if at >> MICROS_BITS != tag(waiting.round) {
            return None;
        }
        let (of, how) = (round.of.load(Ordering::Relaxed), round.how.load(Ordering::Relaxed));
        let micros = at & ((1 << MICROS_BITS) - 1);
        let at = Nanos((micros.cast_signed()).saturating_mul(1_000));
        let number = round.number.load(Ordering::Relaxed) as u32;
        Some(RoundRelease { at, of, phase: (how >> 1) as u16, by_wait: how & 1 == 1, round: number })
    }

    /// Releases the closed round `round`.
    fn go(&self, spot: u32, round: u32, company: Quorum, now: Nanos, by_wait: bool) {
        let here = &self.spots[spot as usize];
        let of = if company.of == QuorumSize::Unknown { 0 } else { here.wanted(company.of) };
        let at = now.after(self.lead);
        here.publish(round, &RoundRelease { at, of, phase: company.phase, by_wait, round });
    }

    /// Records that user `number` of a track has left in `phase` (`back`: has returned). Users that
    /// wait for all others no longer wait for it.
    pub(crate) fn count_out(
        &self,
        track: u16,
        phase: u16,
        scenario: u16,
        number: u64,
        back: bool,
        now: Nanos,
    ) {
        for &place in &self.visits[usize::from(scenario)] {
            let spot = self.point_index(place, Some(track), true);
            let mut crowds = self.spots[spot as usize].crowd.iter();
            let Some(crowd) = crowds.find(|crowd| crowd.phase == phase && number < crowd.numbers) else {
                continue;
            };
            if back {
                crowd.gone.fetch_sub(1, Ordering::SeqCst);
            } else {
                crowd.gone.fetch_add(1, Ordering::SeqCst);
                self.release_if_complete(spot, Quorum::everybody(phase), now);
            }
        }
    }

    /// Records that a track's next phase has started, in which other users may be waited for.
    pub(crate) fn phase_begins(&self, track: u16, phase: u16, now: Nanos) {
        for spot in (0..self.spots.len()).skip(usize::from(track) + 1).step_by(self.tracks + 1) {
            if !self.spots[spot].crowd.is_empty() {
                self.release_if_complete(spot as u32, Quorum::everybody(phase), now);
            }
        }
    }
}

impl RendezvousSlot {
    fn new(crowd: Vec<PhaseMembers>) -> Self {
        let zero = || AtomicU64::new(0);
        let round = || Round { at: AtomicU64::new(u64::MAX), of: zero(), how: zero(), number: zero() };
        let fleet = FleetSlot::default();
        Self { state: zero(), crowd, rounds: std::array::from_fn(|_| round()), fleet }
    }

    /// Publishes the release of the closed round `round`.
    fn publish(&self, round: u32, release: &RoundRelease) {
        let entry = &self.rounds[(round % ROUNDS) as usize];
        entry.of.store(release.of, Ordering::Relaxed);
        entry.how.store(u64::from(release.phase) << 1 | u64::from(release.by_wait), Ordering::Relaxed);
        entry.number.store(release.round.into(), Ordering::Relaxed);
        // Rounded up to the next microsecond, so that no user leaves before the last one has
        // arrived.
        let micros = release.at.0.max(0).unsigned_abs().div_ceil(1_000);
        let micros = micros & ((1 << MICROS_BITS) - 1);
        entry.at.store(tag(round) << MICROS_BITS | micros, Ordering::Release);
    }

    fn close(&self, seen: u64) -> bool {
        self.step(seen, whole(halves(seen).0.wrapping_add(1), 0))
    }

    fn step(&self, seen: u64, next: u64) -> bool {
        self.state.compare_exchange(seen, next, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Returns how many users are waited for: at least one, the user that is there.
    fn wanted(&self, of: QuorumSize) -> u64 {
        match of {
            QuorumSize::Number(of) => of.max(1),
            QuorumSize::Unknown => u64::MAX,
            QuorumSize::Everybody(phase) => match self.crowd.iter().find(|crowd| crowd.phase == phase) {
                Some(crowd) => crowd.all.saturating_sub(crowd.gone.load(Ordering::SeqCst)).max(1),
                None => u64::MAX,
            },
        }
    }
}

const fn halves(state: u64) -> (u32, u32) {
    ((state >> 32) as u32, state as u32)
}

const fn whole(round: u32, present: u32) -> u64 {
    (round as u64) << 32 | present as u64
}

/// Returns the bits that distinguish a round from others that used its entry.
const fn tag(round: u32) -> u64 {
    (round & 0xffff) as u64
}

#[cfg(test)]
mod tests;
