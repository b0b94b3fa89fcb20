//! [`ListCost`]: what a list of actions sends, and the time it takes if answers took none.

use wavetank_units::Nanos;

use super::BoundedEstimate;
use wavetank_plan::Think;

/// One of a user's three lists: what it sends, and the time it takes if answers took none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListCost {
    /// Requests.
    pub requests: BoundedEstimate,
    /// Pauses, in nanoseconds: think times and waits for others.
    pub think_ns: BoundedEstimate,
    /// Delays that paths name (`/delay/2s`), in nanoseconds.
    pub delay_ns: BoundedEstimate,
}

impl ListCost {
    /// No cost, which is certain.
    pub const NOTHING: Self = Self {
        requests: BoundedEstimate::ZERO,
        think_ns: BoundedEstimate::ZERO,
        delay_ns: BoundedEstimate::ZERO,
    };

    /// Both one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.each(other, BoundedEstimate::plus)
    }

    /// Think times and named delays together: nothing is quicker.
    pub fn min_duration(self) -> BoundedEstimate {
        self.think_ns.plus(self.delay_ns)
    }

    pub(super) fn times(self, count: BoundedEstimate) -> Self {
        let count = Self { requests: count, think_ns: count, delay_ns: count };
        self.each(count, BoundedEstimate::times)
    }

    pub(super) fn or(self, other: Self) -> Self {
        self.each(other, BoundedEstimate::either)
    }

    pub(super) fn maybe(self) -> Self {
        self.each(self, |amount, _| amount.or_zero())
    }

    fn each(self, other: Self, both: fn(BoundedEstimate, BoundedEstimate) -> BoundedEstimate) -> Self {
        Self {
            requests: both(self.requests, other.requests),
            think_ns: both(self.think_ns, other.think_ns),
            delay_ns: both(self.delay_ns, other.delay_ns),
        }
    }
}

/// A pause in nanoseconds.
pub(super) fn pause(think: Think) -> BoundedEstimate {
    let ns = |length: Nanos| length.0 as f64;
    BoundedEstimate {
        least: ns(think.shortest()),
        mean: Some(ns(think.mean())),
        most: Some(ns(think.longest())),
    }
}
