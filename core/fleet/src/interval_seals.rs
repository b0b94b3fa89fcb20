//! [`IntervalSeals`]: when an interval of the whole fleet is sealed.

use std::collections::BTreeMap;

use wavetank_units::Nanos;

use crate::constants::LATENESS;

/// Seals intervals in order: when every live agent has delivered, or [`LATENESS`] after the first
/// one did.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalSeals {
    /// The first interval that is not sealed.
    next: u64,
    /// When each open interval is sealed at the latest. Intervals that no agent delivered are not
    /// in it.
    due: BTreeMap<u64, Nanos>,
}

impl IntervalSeals {
    /// An agent delivered an interval. Returns whether the interval was sealed without it.
    pub(crate) fn deliver(&mut self, seq: u64, now: Nanos) -> bool {
        if seq < self.next {
            return true;
        }
        self.due.entry(seq).or_insert(now.after(LATENESS));
        false
    }

    /// The next interval that is sealed now, if one is. `is_expected` returns whether any agent is
    /// still expected to deliver it.
    pub(crate) fn poll(&mut self, now: Nanos, is_expected: impl FnOnce(u64) -> bool) -> Option<u64> {
        // An interval that no agent delivered is sealed with the next one that is.
        let latest = self.due.last_key_value().map(|(seq, _)| *seq)?;
        let seq = self.next;
        let due = self.due.range(seq..=latest).map(|(_, due)| *due).min();
        if due.is_none_or(|due| now < due) && is_expected(seq) {
            return None;
        }
        self.next += 1;
        self.due.remove(&seq);
        Some(seq)
    }

    /// When an interval is sealed without waiting any longer.
    pub(crate) fn due(&self) -> Option<Nanos> {
        self.due.values().copied().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Deliveries (second, interval) of two agents, and the seals that follow: (second, interval,
    /// whether it is complete).
    fn check(first: &[(i64, u64)], second: &[(i64, u64)], expected: &[(i64, u64, bool)]) {
        let mut seals = IntervalSeals::default();
        let mut sealed = Vec::new();
        for now in 0..20 {
            let at = Nanos(now * SECOND);
            for (_, seq) in first.iter().chain(second).filter(|(time, _)| *time == now) {
                seals.deliver(*seq, at);
            }
            let has = |list: &[(i64, u64)], seq| list.iter().any(|(time, is)| *time <= now && *is == seq);
            let is_expected = |seq| !has(first, seq) || !has(second, seq);
            while let Some(seq) = seals.poll(at, is_expected) {
                sealed.push((now, seq, !is_expected(seq)));
            }
            assert!(seals.due().is_none_or(|due| due > at), "a seal was due at {now} s");
        }
        assert_eq!(sealed, expected);
    }

    #[test]
    fn an_interval_is_sealed_when_all_delivered_or_it_is_late() {
        check(&[(1, 0), (2, 1)], &[(1, 0), (3, 1)], &[(1, 0, true), (3, 1, true)]);
        check(&[(1, 0)], &[(4, 0)], &[(4, 0, true)]);
        check(&[(1, 0)], &[(5, 0)], &[(4, 0, false)]);
        check(&[(1, 0), (2, 1), (3, 2)], &[(2, 0)], &[(2, 0, true), (5, 1, false), (6, 2, false)]);
        check(&[(2, 1)], &[(2, 1)], &[(5, 0, false), (5, 1, true)]);
        assert!(!IntervalSeals::default().deliver(0, Nanos::ZERO));
    }

    #[test]
    fn a_delivery_after_the_seal_amends() {
        let mut seals = IntervalSeals::default();
        assert!(!seals.deliver(0, Nanos::ZERO));
        assert_eq!(seals.poll(Nanos(3 * SECOND), |_| true), Some(0));
        assert!(seals.deliver(0, Nanos(3 * SECOND)));
        assert!(!seals.deliver(1, Nanos(3 * SECOND)));
    }
}
