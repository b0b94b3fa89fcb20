//! [`Opening`]: connections that are opened ahead of the first phase, at a pace.

use wavetank_pace::Share;
use wavetank_plan::{Nanos, Plan, Rate};

/// The seats of one load thread that are to have a connection before the load begins.
pub(crate) struct Opening {
    share: Share,
    rate: Rate,
    began: Nanos,
    next: u64,
    seats: u64,
    phase: u16,
}

impl Opening {
    /// Begin at `now`. The `k`-th connection of the run opens when `open_rate` has made `k`.
    pub(crate) fn new(plan: &Plan, share: Share, seats: u64, now: Nanos) -> Self {
        let (phase, ahead) = ahead(plan);
        let seats = share.count_below(ahead).min(seats);
        Self { share, rate: plan.open_rate, began: now, next: 0, seats, phase }
    }

    /// How long opening takes, if the target keeps up.
    pub(crate) fn time(plan: &Plan) -> Nanos {
        due(ahead(plan).1, plan.open_rate)
    }

    /// When the next one is to be opened.
    pub(crate) fn next(&self) -> Option<Nanos> {
        (self.next < self.seats).then(|| self.began.after(due(self.share.nth(self.next), self.rate)))
    }

    /// The seat to open at `now`.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<u32> {
        if self.next().is_some_and(|at| at <= now) {
            self.next += 1;
            return u32::try_from(self.next - 1).ok();
        }
        None
    }

    /// The phase they are opened for.
    pub(crate) const fn phase(&self) -> u16 {
        self.phase
    }
}

/// The phase ahead of which connections are opened, and how many.
fn ahead(plan: &Plan) -> (u16, u64) {
    let phase = (0_u16..).zip(&plan.phases).find(|(_, phase)| phase.open_before);
    phase.map_or((0, 0), |(index, phase)| (index, phase.connections))
}

/// How long opening `count` connections takes.
fn due(count: u64, rate: Rate) -> Nanos {
    let ns = u128::from(count) * u128::from(rate.per.0.unsigned_abs()) / u128::from(rate.count.max(1));
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX))
}
