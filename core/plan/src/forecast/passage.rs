//! [`Passage`]: what a list of actions sends, and the time it takes if answers took none.

use super::Amount;
use crate::Think;

/// Deviations between the median and the 95th percentile of a normal draw.
const P95_DEVIATIONS: f64 = 1.645;
/// Where exponential pauses are cut, in means.
const EXPONENTIAL_MAX: f64 = 20.0;
/// Where the other pauses are cut, in deviations.
const DEVIATIONS_MAX: f64 = 5.0;

/// One of a user's three lists: what it sends, and the time it takes if answers took none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage {
    /// Requests.
    pub requests: Amount,
    /// Pauses, in nanoseconds: think times and waits for others.
    pub think_ns: Amount,
    /// Delays that paths name (`/delay/2s`), in nanoseconds.
    pub delay_ns: Amount,
}

impl Passage {
    /// Nothing at all, and that for certain.
    pub const NOTHING: Self = Self { requests: Amount::ZERO, think_ns: Amount::ZERO, delay_ns: Amount::ZERO };

    /// Both one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.each(other, Amount::plus)
    }

    /// Think times and named delays together: nothing is quicker.
    pub fn floor_ns(self) -> Amount {
        self.think_ns.plus(self.delay_ns)
    }

    pub(super) fn times(self, count: Amount) -> Self {
        let count = Self { requests: count, think_ns: count, delay_ns: count };
        self.each(count, Amount::times)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.each(other, Amount::or)
    }

    pub(super) fn maybe(self) -> Self {
        self.each(self, |amount, _| amount.maybe())
    }

    fn each(self, other: Self, both: fn(Amount, Amount) -> Amount) -> Self {
        Self {
            requests: both(self.requests, other.requests),
            think_ns: both(self.think_ns, other.think_ns),
            delay_ns: both(self.delay_ns, other.delay_ns),
        }
    }
}

/// A pause in nanoseconds.
pub(super) fn pause(think: Think) -> Amount {
    let amount = |least: f64, mean: f64, most: f64| Amount { least, mean: Some(mean), most: Some(most) };
    match think {
        Think::Fixed(length) => Amount::exact(length.0 as f64),
        Think::Even { from, to } => {
            let (from, to) = (from.0 as f64, to.0 as f64);
            amount(from, f64::midpoint(from, to), to)
        }
        Think::Exponential { mean } => {
            let mean = mean.0 as f64;
            amount(0.0, mean, mean * EXPONENTIAL_MAX)
        }
        Think::Normal { mean, deviation } => {
            let (mean, reach) = (mean.0 as f64, deviation.0 as f64 * DEVIATIONS_MAX);
            amount((mean - reach).max(0.0), mean, mean + reach)
        }
        Think::Lognormal { median, p95 } => {
            let median = median.0 as f64;
            let deviation = (p95.0 as f64 / median.max(1.0)).ln() / P95_DEVIATIONS;
            let at = |deviations: f64| median * (deviation * deviations).exp();
            amount(at(-DEVIATIONS_MAX), median * (deviation * deviation / 2.0).exp(), at(DEVIATIONS_MAX))
        }
    }
}
