//! [`Opening`]: connections that are opened ahead of the first phase, at a pace.

use wavetank_pace::Share;
use wavetank_plan::{Nanos, Plan, Rate};

/// Handshakes under way at once ahead of the load, on one thread: enough for a distant target at the usual rate
/// of opening, and done with in some hundred milliseconds.
pub(crate) const HANDSHAKES_MAX: usize = 1_024;

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

    /// How long opening takes at the longest. The target decides how fast it shakes hands, and each handshake has the
    /// whole connect timeout; in the clear they all wait at once.
    pub(crate) fn time_max(plan: &Plan) -> Nanos {
        let count = ahead(plan).1;
        let at_once = u64::from(plan.threads.max(1)) * HANDSHAKES_MAX as u64;
        let waves = if plan.tls.is_some() { count.div_ceil(at_once) } else { 1 };
        let waves = i64::try_from(waves).unwrap_or(i64::MAX);
        due(count, plan.open_rate).after(Nanos(plan.http.connect_timeout.0.saturating_mul(waves)))
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
