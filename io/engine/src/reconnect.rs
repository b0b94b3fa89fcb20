//! [`ReconnectQueue`]: users with a held connection that has ended or could not be opened, and must
//! be reopened.

use wavetank_pace::{Partition, Timers};
use wavetank_plan::{Load, Plan};
use wavetank_units::{Nanos, Rate};

/// The part of planned openings that counts against the reconnect pace, in tenths.
///
/// While the plan opens connections at its full rate, lost connections are reopened at a tenth of
/// the pace. Otherwise the target would see twice the rate.
const PLANNED_TENTHS: i64 = 9;
/// The maximum time for which reconnects wait for planned openings, however many of those are due.
const YIELD_MAX: Nanos = Nanos::SECOND;
/// Openings that were due while the thread was busy are made up for, at most for this time back.
const MADE_UP: Nanos = Nanos::from_millis(20);

/// Users waiting to reconnect; see the module documentation.
///
/// Each user has an earliest instant, and all of them share one pace. A target that ends a million
/// connections at one moment must not see a million connects a moment later.
pub(crate) struct ReconnectQueue {
    users: Timers<u32>,
    /// Time between two of them.
    gap: Nanos,
    /// The earliest instant at which the next connection may be opened.
    next_at: Nanos,
}

impl ReconnectQueue {
    /// Creates an empty queue for the `share` of the connections that `plan` holds.
    pub(crate) fn new(plan: &Plan, share: Partition) -> Self {
        Self { users: Timers::new(), gap: gap(rate(plan), share), next_at: Nanos(i64::MIN) }
    }

    /// Adds `user`, with a connection to be reopened at or after `at`.
    pub(crate) fn insert(&mut self, at: Nanos, user: u32) {
        self.users.insert(at, user);
    }

    /// Returns when the next connection is to be reopened.
    pub(crate) fn next_deadline(&mut self) -> Option<Nanos> {
        if self.users.is_empty() {
            return None;
        }
        self.users.next().map(|at| at.max(self.next_at))
    }

    /// Returns a user with a connection to be reopened at `now`.
    pub(crate) fn pop(&mut self, now: Nanos) -> Option<u32> {
        if now < self.next_at {
            return None;
        }
        let (_, user) = self.users.pop(now)?;
        self.next_at = self.next_at.max(now - MADE_UP).after(self.gap);
        Some(user)
    }

    /// Defers reconnects after an opening at `now` that the plan intended, because the target must
    /// handle that one too.
    pub(crate) fn defer_to_planned(&mut self, now: Nanos) {
        let taken = Nanos(self.gap.0 / 10 * PLANNED_TENTHS);
        self.next_at = self.next_at.max(now - MADE_UP).after(taken).min(now.after(YIELD_MAX));
    }
}

/// Returns the reconnect rate of all connections. It is the opening rate of the plan, either in the
/// phases that hold them or ahead of a phase, whichever is higher.
fn rate(plan: &Plan) -> Rate {
    let holds = plan.phases.iter().filter_map(|phase| match &phase.load {
        Load::Hold { connections, .. } => Some(connections.pieces()),
        _ => None,
    });
    let climbs = holds.flatten().filter(|piece| piece.end > piece.begin);
    let climbs = climbs.map(|piece| Rate { count: piece.end - piece.begin, per: piece.length });
    climbs.fold(
        plan.open_rate,
        |most, rate| {
            if rate.as_per_second() > most.as_per_second() { rate } else { most }
        },
    )
}

/// Returns the time between two reconnects of one share.
fn gap(rate: Rate, share: Partition) -> Nanos {
    let ns = u128::from(rate.per.0.unsigned_abs()) * u128::from(share.of);
    Nanos(i64::try_from(ns / (u128::from(rate.count) * u128::from(share.width)).max(1)).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rate: Rate, share: Partition, users: u32, expect: &[usize]) {
        let mut all =
            ReconnectQueue { users: Timers::new(), gap: gap(rate, share), next_at: Nanos(i64::MIN) };
        let lost = Nanos::from_secs(7);
        (0..users).for_each(|user| all.insert(lost, user));
        assert_eq!(
            (all.pop(lost - Nanos(1)), all.next_deadline()),
            (None, Some(lost)),
            "not before its time"
        );
        // Turns of 10 ms, counted by the tenth of a second.
        let opened: Vec<usize> = (0..expect.len())
            .map(|tenth| {
                let turns =
                    (0..10).map(|turn| lost.after(Nanos::from_millis((tenth * 10 + turn) as i64 * 10)));
                turns.map(|now| std::iter::from_fn(|| all.pop(now)).count()).sum()
            })
            .collect();
        assert_eq!(opened, expect, "{rate:?}, {share:?}");
    }

    #[test]
    fn few_connections_are_reopened_next_to_planned_ones() {
        let rate = Rate::per_second(1_000);
        let mut all = ReconnectQueue {
            users: Timers::new(),
            gap: gap(rate, Partition::WHOLE),
            next_at: Nanos(i64::MIN),
        };
        (0..2_000).for_each(|user| all.insert(Nanos::ZERO, user));
        // The plan opens connections at its full rate for half a second, and then none.
        let opened: Vec<usize> = (0..10)
            .map(|tenth| {
                let steps = (0..100).map(|step| Nanos::from_millis(tenth * 100 + step));
                steps
                    .map(|now| {
                        if now < Nanos::from_millis(500) {
                            all.defer_to_planned(now);
                        }
                        std::iter::from_fn(|| all.pop(now)).count()
                    })
                    .sum()
            })
            .collect();
        // At the start, 20 ms of openings may be made up for.
        assert!((10..=32).contains(&opened[0]), "{opened:?}");
        assert!(opened[1..5].iter().all(|tenth| (9..=11).contains(tenth)), "{opened:?}");
        assert!(opened[6..8].iter().all(|tenth| (99..=101).contains(tenth)), "{opened:?}");
        // Very many simultaneous openings do not delay reconnects for long.
        (0..100_000).for_each(|_| all.defer_to_planned(Nanos::from_secs(2)));
        assert_eq!(all.next_deadline(), Some(Nanos::from_secs(3)));
    }

    #[test]
    fn mass_losses_are_opened_again_at_a_pace() {
        // At the start, 20 ms of openings may be made up for.
        check(Rate::per_second(1_000), Partition::WHOLE, 250, &[111, 100, 39, 0]);
        check(Rate::per_second(1_000), Partition::WHOLE.split(2, 1), 250, &[56, 50, 50, 50]);
        check(Rate::per_second(1_000_000), Partition::WHOLE, 250, &[250, 0]);
    }
}
