//! [`BoundedEstimate`]: a number of which only bounds may be known.

/// A number that is forecast before anything is sent. Random numbers have bounds of four standard
/// deviations, which one plan in ten thousand leaves. All other bounds are firm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedEstimate {
    /// The lower bound.
    pub least: f64,
    /// On average; `None` where that depends on answers.
    pub mean: Option<f64>,
    /// The upper bound; `None` if there is none.
    pub most: Option<f64>,
}

/// Bounds of what chance draws, in standard deviations.
const DEVIATIONS: f64 = 4.0;

impl BoundedEstimate {
    /// Nothing.
    pub const ZERO: Self = Self::exact(0.0);

    /// Known.
    pub const fn exact(number: f64) -> Self {
        Self { least: number, mean: Some(number), most: Some(number) }
    }

    /// Creates an estimate with bounds and without a mean.
    pub const fn between(least: f64, most: Option<f64>) -> Self {
        Self { least, mean: None, most }
    }

    /// Creates the estimate for the number of events of a Poisson process with this mean.
    pub fn poisson(mean: f64) -> Self {
        let spread = DEVIATIONS * mean.sqrt();
        Self { least: (mean - spread).max(0.0), mean: Some(mean), most: Some(mean + spread) }
    }

    /// Whether it is known.
    pub fn is_exact(self) -> bool {
        self.most == Some(self.least)
    }

    /// The mean, or the bound from above where only that is known.
    pub fn mean_or_upper(self) -> Option<f64> {
        self.mean.or(self.most)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            least: self.least + other.least,
            mean: self.mean.zip(other.mean).map(|(one, other)| one + other),
            most: self.most.zip(other.most).map(|(one, other)| one + other),
        }
    }

    /// One for each of the other. Nothing of something unbounded is nothing.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let none = |amount: Self| amount.most.is_some_and(|most| most <= 0.0);
        if none(self) || none(other) {
            return Self::ZERO;
        }
        Self {
            least: self.least * other.least,
            mean: self.mean.zip(other.mean).map(|(one, other)| one * other),
            most: self.most.zip(other.most).map(|(one, other)| one * other),
        }
    }

    /// Perhaps, perhaps not.
    #[must_use]
    pub const fn or_zero(self) -> Self {
        Self { least: 0.0, mean: None, most: self.most }
    }

    /// Returns the estimate for one of the two, where it is unknown which one.
    #[must_use]
    pub fn either(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        Self {
            least: self.least.min(other.least),
            mean: None,
            most: self.most.zip(other.most).map(|(one, other)| one.max(other)),
        }
    }

    /// Never more than `most`.
    #[must_use]
    pub fn capped(self, most: f64) -> Self {
        Self {
            least: self.least.min(most),
            mean: self.mean.map(|mean| mean.min(most)),
            most: Some(self.most.map_or(most, |own| own.min(most))),
        }
    }

    /// Returns the part with a weight of `share`, where each event is drawn independently.
    #[must_use]
    pub fn weighted(self, share: f64) -> Self {
        if share >= 1.0 {
            return self;
        }
        let spread = |count: f64| DEVIATIONS * (count * share * (1.0 - share)).sqrt();
        Self {
            least: (self.least * share - spread(self.least)).max(0.0),
            mean: self.mean.map(|mean| mean * share),
            most: self.most.map(|most| (most * share + spread(most)).min(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(amount: BoundedEstimate, least: f64, mean: Option<f64>, most: Option<f64>) {
        assert_eq!(amount, BoundedEstimate { least, mean, most });
    }

    #[test]
    fn bounds_stay_bounds() {
        let some = BoundedEstimate::between(1.0, Some(5.0));
        check(some.plus(BoundedEstimate::exact(2.0)), 3.0, None, Some(7.0));
        check(BoundedEstimate::exact(2.0).times(BoundedEstimate::exact(3.0)), 6.0, Some(6.0), Some(6.0));
        check(BoundedEstimate::between(0.0, None).times(BoundedEstimate::ZERO), 0.0, Some(0.0), Some(0.0));
        check(BoundedEstimate::exact(3.0).either(BoundedEstimate::exact(1.0)), 1.0, None, Some(3.0));
        check(BoundedEstimate::exact(3.0).either(BoundedEstimate::exact(3.0)), 3.0, Some(3.0), Some(3.0));
        check(BoundedEstimate::exact(3.0).or_zero(), 0.0, None, Some(3.0));
        check(BoundedEstimate::between(2.0, None).capped(9.0), 2.0, None, Some(9.0));
        check(BoundedEstimate::poisson(10_000.0), 9_600.0, Some(10_000.0), Some(10_400.0));
        check(BoundedEstimate::exact(100.0).weighted(0.5), 30.0, Some(50.0), Some(70.0));
        assert!(BoundedEstimate::exact(5.0).weighted(1.0).is_exact() && !some.is_exact());
    }
}
