//! [`PhaseMembers`]: the users of a phase that may come to a rendezvous.

use std::sync::atomic::AtomicU64;

use wavetank_pace::{Partition, WeightedScenarios};
use wavetank_plan::{Action, Plan, PopulationCurve, Track};

use crate::users::Users;

/// All users of one phase.
pub(super) struct PhaseMembers {
    pub(super) phase: u16,
    /// Users have numbers below this.
    pub(super) numbers: u64,
    /// The number of them that come to this rendezvous.
    pub(super) all: u64,
    /// The number of those that have left and will not return.
    pub(super) gone: AtomicU64,
}

/// Returns the users of a track that come, for each of its phases; empty if none ever does.
pub(super) fn crowd(
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
        let numbers = levels.map_or(0, PopulationCurve::max);
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

/// Whether any of `actions` waits for all users at `place`.
pub(super) fn waits_for_all(actions: &[Action], place: u16) -> bool {
    actions.iter().any(|action| match action {
        Action::Rendezvous(here) => here.place == place && here.of.is_none(),
        other => other.inside().any(|steps| waits_for_all(steps, place)),
    })
}
