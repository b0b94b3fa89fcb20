//! [`Granularity`]: which levels of load there are.

/// Significant digits of a rate that is tried.
const RATE_DIGITS: i32 = 4;

/// Which levels of load there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// Any rate, shown with four digits.
    Rate,
    /// Users and connections: whole ones.
    Whole,
}

impl Granularity {
    /// The level next to `value`, which is above zero.
    pub fn nearest(self, value: f64) -> f64 {
        match self {
            Self::Whole => value.round().max(1.0),
            Self::Rate => {
                let digits = RATE_DIGITS - 1 - value.log10().floor() as i32;
                if digits >= 0 {
                    let scale = 10_f64.powi(digits);
                    (value * scale).round() / scale
                } else {
                    // A negative power of ten is no exact number, its inverse is.
                    let scale = 10_f64.powi(-digits);
                    (value / scale).round() * scale
                }
            }
        }
    }

    /// Returns what is shown of a knee at `value`: for whole numbers the highest one not above it,
    /// for rates the nearest.
    pub fn below(self, value: f64) -> f64 {
        match self {
            Self::Whole => value.floor().max(1.0),
            Self::Rate => self.nearest(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(grain: Granularity, value: f64, nearest: f64) {
        let found = grain.nearest(value);
        assert!((found - nearest).abs() < 1e-9, "{grain:?} of {value}: {found}");
    }

    #[test]
    fn rates_have_four_digits() {
        check(Granularity::Rate, 2_480.4, 2_480.0);
        check(Granularity::Rate, 133.333, 133.3);
        check(Granularity::Rate, 1_234_567.0, 1_235_000.0);
        check(Granularity::Rate, 0.123_456, 0.1235);
        check(Granularity::Rate, 9_999.9, 10_000.0);
    }

    #[test]
    fn users_are_whole_and_at_least_one() {
        check(Granularity::Whole, 7.5, 8.0);
        check(Granularity::Whole, 0.2, 1.0);
        check(Granularity::Whole, 123_456.4, 123_456.0);
        assert!((Granularity::Whole.below(7.9) - 7.0).abs() < 1e-9);
    }
}
