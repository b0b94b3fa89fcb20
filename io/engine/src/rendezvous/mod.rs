//! [`RendezvousTable`]: where users of all load threads wait for each other.
//!
//! One table for all threads of a run, of atomics alone: nobody is ever kept waiting by another thread. Who comes last
//! fixes the instant at which all go on; the others see it when they look, which they do in every turn in which somebody
//! of theirs waits. Knows no sessions: only how many of them are where.

use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_pace::{Partition, WeightedScenarios};
use wavetank_plan::{Action, Nanos, Plan, Track};

use crate::sleeper::HybridSleep;
use crate::users::Users;

/// From the last to come until all go, where there are several threads: each has looked once more by then.
const LEAD: Nanos = Nanos(HybridSleep::NAP.0 + 5_000_000);
/// So many rounds of a place are remembered. Only a thread that stands still while others meet so many times
/// misses one; its users then go on when it looks again.
const ROUNDS: u32 = 16;

/// See the module's description.
pub(crate) struct RendezvousTable {
    /// For each rendezvous the spot of those who wait for a number, then one for each track, whose users wait for
    /// everybody.
    spots: Vec<RendezvousSlot>,
    tracks: usize,
    /// For each scenario the rendezvous at which its users wait for everybody.
    visits: Vec<Vec<u16>>,
    lead: Nanos,
}

/// Those who wait for each other.
struct RendezvousSlot {
    /// Number of the round that gathers (upper half), and how many are there (lower half).
    state: AtomicU64,
    /// Who may come, where everybody is waited for.
    crowd: Vec<PhaseMembers>,
    rounds: [Round; ROUNDS as usize],
}

/// Everybody of one phase.
struct PhaseMembers {
    phase: u16,
    /// Users are numbered below this.
    numbers: u64,
    /// How many of them come here.
    all: u64,
    /// How many of those have left and come no more.
    gone: AtomicU64,
}

/// A round that went.
struct Round {
    /// When, in microseconds, below the lowest bits of the round's number.
    at: AtomicU64,
    /// How many were waited for.
    of: AtomicU64,
    /// The phase in the upper bits; 1: they went because the wait was over.
    how: AtomicU64,
}

const MICROS_BITS: u32 = 48;

/// Names those who wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundId {
    pub(crate) spot: u32,
    pub(crate) round: u32,
}

/// Who is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quorum {
    /// What the session of the one who waits is counted under.
    pub(crate) phase: u16,
    pub(crate) of: QuorumSize,
}

/// How many are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuorumSize {
    /// So many.
    Number(u64),
    /// Everybody of that phase.
    Everybody(u16),
    /// Nobody knows how many; the wait ends it.
    Unknown,
}

impl Quorum {
    const fn everybody(phase: u16) -> Self {
        Self { phase, of: QuorumSize::Everybody(phase) }
    }
}

/// They went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundRelease {
    /// When, on the thread's clock.
    pub(crate) at: Nanos,
    pub(crate) of: u64,
    pub(crate) phase: u16,
    pub(crate) by_wait: bool,
}

impl RendezvousTable {
    /// Those of `plan` for users of `share`, on so many threads.
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
        Self { spots, tracks: tracks.len(), visits, lead }
    }

    /// Where users of a track (none: arrivals) wait at `place` for a number of others, or for everybody.
    pub(crate) fn point_index(&self, place: u16, track: Option<u16>, everybody: bool) -> u32 {
        let own = track.filter(|_| everybody).map_or(0, |track| usize::from(track) + 1);
        (usize::from(place) * (self.tracks + 1) + own) as u32
    }

    /// The rendezvous of a spot.
    pub(crate) fn rendezvous_index(&self, spot: u32) -> u16 {
        (spot as usize / (self.tracks + 1)) as u16
    }

    /// A number for a round that no other one of the same rendezvous has.
    pub(crate) fn number(&self, waiting: RoundId) -> u64 {
        let own = waiting.spot as usize % (self.tracks + 1);
        u64::from(waiting.round) * (self.tracks as u64 + 1) + own as u64
    }

    /// Whether there is a rendezvous at all.
    pub(crate) fn any(&self) -> bool {
        !self.spots.is_empty()
    }

    /// Whether anybody waits for everybody anywhere: then it matters who leaves.
    pub(crate) fn waits_for_everyone(&self) -> bool {
        self.spots.iter().any(|spot| !spot.crowd.is_empty())
    }

    /// One more is there. The round he waits in, and whether he is its first.
    pub(crate) fn arrive(&self, spot: u32, company: Quorum, now: Nanos) -> (RoundId, bool) {
        let here = &self.spots[spot as usize];
        let mut seen = here.state.load(Ordering::SeqCst);
        let round = loop {
            let (round, present) = halves(seen);
            let of = here.wanted(company.of);
            let last = u64::from(present) + 1 >= of;
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
        // Somebody may have left between the look at how many are wanted and the step in.
        self.release_if_complete(spot, company, now);
        (RoundId { spot, round }, halves(seen).1 == 0)
    }

    /// If all who are wanted are there, they go.
    pub(crate) fn release_if_complete(&self, spot: u32, company: Quorum, now: Nanos) {
        let here = &self.spots[spot as usize];
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

    /// The wait of a round is over: those who are there go, if they have not yet.
    pub(crate) fn wait_is_over(&self, waiting: RoundId, company: Quorum, now: Nanos) {
        let here = &self.spots[waiting.spot as usize];
        loop {
            let seen = here.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if round != waiting.round || present == 0 {
                return;
            }
            if here.close(seen) {
                return self.go(waiting.spot, round, company, now, true);
            }
        }
    }

    /// One who waits goes away alone.
    pub(crate) fn depart(&self, waiting: RoundId, now: Nanos) {
        let here = &self.spots[waiting.spot as usize];
        loop {
            let seen = here.state.load(Ordering::SeqCst);
            let (round, present) = halves(seen);
            if round != waiting.round || present == 0 {
                return;
            }
            // Whoever comes after the last one has gone begins a round of his own, with a wait of his own.
            if present == 1 {
                if here.close(seen) {
                    let nobody = Quorum { phase: 0, of: QuorumSize::Unknown };
                    return self.go(waiting.spot, round, nobody, now, false);
                }
            } else if here.step(seen, whole(round, present - 1)) {
                return;
            }
        }
    }

    /// If the round has gone by `now`: when and how. `None`: it still gathers, or the instant is about to be told.
    pub(crate) fn released(&self, waiting: RoundId, now: Nanos) -> Option<RoundRelease> {
        let here = &self.spots[waiting.spot as usize];
        let ahead = halves(here.state.load(Ordering::SeqCst)).0.wrapping_sub(waiting.round);
        if ahead == 0 {
            return None;
        }
        let round = &here.rounds[(waiting.round % ROUNDS) as usize];
        let at = round.at.load(Ordering::Acquire);
        if ahead > ROUNDS {
            // It has been written over, and is long past.
            return Some(RoundRelease { at: now, of: 0, phase: 0, by_wait: false });
        }
        if at >> MICROS_BITS != tag(waiting.round) {
            return None;
        }
        let (of, how) = (round.of.load(Ordering::Relaxed), round.how.load(Ordering::Relaxed));
        let micros = at & ((1 << MICROS_BITS) - 1);
        let at = Nanos((micros.cast_signed()).saturating_mul(1_000));
        Some(RoundRelease { at, of, phase: (how >> 1) as u16, by_wait: how & 1 == 1 })
    }

    /// Round `round` has been closed: tell when it goes.
    fn go(&self, spot: u32, round: u32, company: Quorum, now: Nanos, by_wait: bool) {
        let here = &self.spots[spot as usize];
        let told = &here.rounds[(round % ROUNDS) as usize];
        let of = if company.of == QuorumSize::Unknown { 0 } else { here.wanted(company.of) };
        told.of.store(of, Ordering::Relaxed);
        told.how.store(u64::from(company.phase) << 1 | u64::from(by_wait), Ordering::Relaxed);
        // Up to the next microsecond: nobody goes before the last one has come.
        let micros = now.after(self.lead).0.max(0).unsigned_abs().div_ceil(1_000);
        let micros = micros & ((1 << MICROS_BITS) - 1);
        told.at.store(tag(round) << MICROS_BITS | micros, Ordering::Release);
    }

    /// User `number` of a track has left in `phase` (`back`: is there again): those who wait for everybody wait for him
    /// no more.
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

    /// A track's next phase has begun: others may be wanted in it.
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
        let round = || Round { at: AtomicU64::new(u64::MAX), of: AtomicU64::new(0), how: AtomicU64::new(0) };
        Self { state: AtomicU64::new(0), crowd, rounds: std::array::from_fn(|_| round()) }
    }

    fn close(&self, seen: u64) -> bool {
        self.step(seen, whole(halves(seen).0.wrapping_add(1), 0))
    }

    fn step(&self, seen: u64, next: u64) -> bool {
        self.state.compare_exchange(seen, next, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// How many are waited for; at least one, who is there.
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

/// What tells a round from those that have had its place.
const fn tag(round: u32) -> u64 {
    (round & 0xffff) as u64
}

/// Who of a track's users comes, in each of its phases; nothing where nobody ever does.
fn crowd(
    plan: &Plan,
    number: u16,
    track: &Track,
    share: Partition,
    comes: impl Fn(u16) -> bool,
) -> Vec<PhaseMembers> {
    let mixed = track.mix.parts();
    if !mixed.iter().any(|&(scenario, _)| comes(scenario)) {
        return Vec::new();
    }
    let share = Users::share(plan, track, share);
    let choice = WeightedScenarios::for_users(&track.mix, plan.seed, number);
    let all_come = mixed.iter().all(|&(scenario, _)| comes(scenario));
    let of_phase = |&phase: &u16| {
        let levels = plan.phases[usize::from(phase)].load.levels();
        let numbers = levels.map_or(0, wavetank_plan::PopulationCurve::max);
        let mine = share.count_below(numbers);
        let all = if all_come {
            mine
        } else {
            (0..mine).filter(|&user| comes(choice.pick(|| share.nth(user)))).count() as u64
        };
        PhaseMembers { phase, numbers, all, gone: AtomicU64::new(0) }
    };
    track.phases.iter().map(of_phase).collect()
}

/// Whether everybody is waited for at `place` anywhere in `actions`.
fn waits_for_all(actions: &[Action], place: u16) -> bool {
    actions.iter().any(|action| match action {
        Action::Rendezvous(here) => here.place == place && here.of.is_none(),
        other => other.inside().any(|steps| waits_for_all(steps, place)),
    })
}

#[cfg(test)]
mod tests;
