//! [`Numbering`]: consecutive numbers for the sessions and users of the whole run.

use wavetank_plan::{Arrivals, Load, Phase, Plan};
use wavetank_units::Nanos;

/// The offsets that separate the sessions of different phases, and the users of different tracks.
/// They are the same on every thread.
pub(super) struct Numbering {
    /// By phase: the number of arrivals before it; the last entry is the total.
    arrivals: Vec<u64>,
    /// By track: the number of users before it; the last entry is the total.
    users: Vec<u64>,
}

impl Numbering {
    pub(super) fn new(plan: &Plan) -> Self {
        let sums = |numbers: Vec<u64>| {
            let mut sum = 0_u64;
            let before = numbers.into_iter().map(|number| {
                let before = sum;
                sum = sum.saturating_add(number);
                before
            });
            let mut all: Vec<u64> = before.collect();
            all.push(sum);
            all
        };
        Self {
            arrivals: sums(plan.phases.iter().map(arrivals_at_most).collect()),
            users: sums(plan.tracks().iter().map(|track| track.most).collect()),
        }
    }

    /// Returns the number among all arrivals of arrival `number` of a phase.
    pub(super) fn arrival(&self, phase: u16, number: u64) -> u64 {
        self.arrivals[usize::from(phase)].saturating_add(number)
    }

    /// Returns the maximum number of arrivals.
    pub(super) fn arrivals(&self) -> u64 {
        self.arrivals.last().copied().unwrap_or(0)
    }

    /// Returns the number among all users of user `number` of a track, and the total number of
    /// users.
    pub(super) fn user(&self, track: u16, number: u64) -> (u64, u64) {
        let all = self.users.last().copied().unwrap_or(0);
        (self.users[usize::from(track)].saturating_add(number), all)
    }
}

/// Poisson arrivals may exceed the mean, but never by this much.
fn arrivals_at_most(phase: &Phase) -> u64 {
    let Load::Open { arrivals, .. } = &phase.load else {
        return phase.end().and_then(|end| phase.sessions_between(phase.start, end)).unwrap_or(0);
    };
    let by_time = phase.end().and_then(|end| phase.sessions_between(Nanos(phase.start.0), end));
    let by_time = by_time.map(|mean| match arrivals {
        Arrivals::Even => mean,
        Arrivals::Poisson => mean + 10 * mean.isqrt() + 10,
    });
    by_time.unwrap_or(u64::MAX >> 8).min(phase.arrivals_max().unwrap_or(u64::MAX))
}
