//! [`PerSecond`]: a rate that is added and multiplied without loss.

use wavetank_units::quantity::show_rate;
use wavetank_units::{Nanos, Rate};

/// The resolution, in parts of one event per second.
const PARTS: u128 = 1_000_000;
/// Nanoseconds of a second.
const SECOND_NS: u128 = 1_000_000_000;

/// A rate per second in millionths, rounded up, so that the load of a tier is never underestimated.
/// Sums and products saturate far above any realistic value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PerSecond(u128);

impl PerSecond {
    /// None.
    pub const ZERO: Self = Self(0);

    /// The rate.
    pub fn from_rate(rate: Rate) -> Self {
        Self::per(u128::from(rate.count), rate.per)
    }

    /// Creates the rate of `count` events in each `length`. A length of zero counts as a
    /// nanosecond.
    pub fn per(count: u128, length: Nanos) -> Self {
        let length = u128::from(length.0.unsigned_abs()).max(1);
        Self(count.saturating_mul(PARTS * SECOND_NS).div_ceil(length))
    }

    /// A measured or predicted rate; what is no number counts as none.
    pub fn from_f64(per_second: f64) -> Self {
        let parts = per_second * PARTS as f64;
        // `as` saturates, and takes what is no number for zero.
        Self(parts.max(0.0).ceil() as u128)
    }

    /// `count` of these.
    #[must_use]
    pub fn times(self, count: u128) -> Self {
        Self(self.0.saturating_mul(count))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// One of `parts` equal ones; of none it is all.
    #[must_use]
    pub fn part(self, parts: u64) -> Self {
        Self(self.0.div_ceil(u128::from(parts.max(1))))
    }

    /// Returns the number of units with rate `each` that are needed, at least one for a rate above
    /// zero. It is one if `each` is zero.
    pub fn units_needed(self, each: Self) -> u64 {
        if each.0 == 0 {
            return 1;
        }
        u64::try_from(self.0.div_ceil(each.0)).unwrap_or(u64::MAX)
    }

    /// Returns the number of events in `length`, rounded up, but without the part by which the rate
    /// itself was rounded up. A rate of 7 per minute gives 7 in a minute.
    pub fn count_in(self, length: Nanos) -> u64 {
        let length = u128::from(length.0.unsigned_abs());
        let slack = length.saturating_sub(1).min(PARTS * SECOND_NS - 1);
        let parts = self.0.saturating_mul(length).saturating_sub(slack);
        let count = parts.div_ceil(PARTS * SECOND_NS);
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// Whether there are none.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// For display and for JSON.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PARTS as f64
    }

    /// Formats a rate: `1,000,000/s`, `16,700/s`; from 1e12 on `1.5 T/s`.
    pub fn show(self) -> String {
        let large =
            [(1e18, "E"), (1e15, "P"), (1e12, "T")].into_iter().find(|(size, _)| self.as_f64() >= *size);
        if let Some((size, unit)) = large {
            return format!("{:.1} {unit}/s", self.as_f64() / size);
        }
        show_rate(self.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(flow: PerSecond, shown: &str, in_a_minute: u64) {
        assert_eq!((flow.show().as_str(), flow.count_in(Nanos::from_secs(60))), (shown, in_a_minute));
    }

    #[test]
    fn nothing_is_lost_and_nothing_overflows() {
        check(PerSecond::from_rate(Rate::per_second(1_000_000)), "1,000,000/s", 60_000_000);
        check(PerSecond::from_rate(Rate { count: 7, per: Nanos::from_secs(60) }), "0.117/s", 7);
        check(PerSecond::per(1_000_000, Nanos::from_secs(100)), "10,000/s", 600_000);
        check(PerSecond::per(1_000_000, Nanos::from_secs(60)), "16,667/s", 1_000_000);
        check(PerSecond::ZERO, "0/s", 0);
        let most = PerSecond::from_rate(Rate::per_second(1_000_000_000));
        check(most, "1,000,000,000/s", 60_000_000_000);
        check(most.times(1_500), "1.5 T/s", 90_000_000_000_000);
        assert_eq!(
            most.times(1 << 40).times(8).units_needed(PerSecond::from_rate(Rate::per_second(8))),
            1_099_511_627_776_000_000_000_u128.min(u128::from(u64::MAX)) as u64
        );
        assert_eq!(most.count_in(Nanos(i64::MAX)), 9_223_372_036_854_775_807);
        assert_eq!(PerSecond::per(u128::MAX, Nanos(1)).count_in(Nanos(i64::MAX)), u64::MAX);
        assert_eq!(PerSecond::from_f64(f64::NAN), PerSecond::ZERO);
        assert_eq!(PerSecond::from_f64(2.5), PerSecond::per(5, Nanos::from_secs(2)));
    }
}
