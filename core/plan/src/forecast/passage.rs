//! [`Passage`]: what a list of actions sends, and the time it takes if answers took none.

use super::Amount;
use crate::{Nanos, Think};

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
    let ns = |length: Nanos| length.0 as f64;
    Amount { least: ns(think.shortest()), mean: Some(ns(think.mean())), most: Some(ns(think.longest())) }
}
