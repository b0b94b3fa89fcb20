//! [`Factor`]: how many times as much, or as fast, a rehearsal is.

use wavetank_plan::Condition;
use wavetank_units::{Code, Nanos, Rate, UserError};

/// A factor: `1/1000`, `0.5`, `20x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    numerator: u64,
    denominator: u64,
}

impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator {
            1 => write!(f, "{}x", self.numerator),
            parts => write!(f, "{}/{parts}", self.numerator),
        }
    }
}

/// Maximum factor. Larger ones are typing errors.
const FACTOR_MAX: u64 = 1_000_000_000;

impl Factor {
    /// The factor that changes nothing.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// Parses `1/1000`, `0.001`, `20x`, `20`. Fails on zero, and on negative and huge factors.
    pub fn parse(option: &str, text: &str) -> Result<Self, UserError> {
        let bad = || {
            let message = format!("{option} {text} is not a factor");
            UserError::usage(
                Code::BadFactor,
                message,
                "--scale 1/1000 is a thousandth of the load; --speed 20x is 20 times as fast",
            )
        };
        let trimmed = text.trim().trim_end_matches(['x', '×']);
        let whole = |word: &str| word.parse::<u64>().ok().filter(|number| (1..=FACTOR_MAX).contains(number));
        let (numerator, denominator) = match (trimmed.split_once('/'), trimmed.split_once('.')) {
            (Some((numerator, denominator)), _) => (whole(numerator.trim()), whole(denominator.trim())),
            (None, Some((units, decimals))) if decimals.len() <= 9 => {
                (whole(&format!("{units}{decimals}")), Some(10_u64.pow(decimals.len() as u32)))
            }
            _ => (whole(trimmed), Some(1)),
        };
        numerator
            .zip(denominator)
            .map(|(numerator, denominator)| Self { numerator, denominator })
            .ok_or_else(bad)
    }

    /// Whether it changes nothing.
    pub const fn is_one(self) -> bool {
        self.numerator == self.denominator
    }

    /// Returns a count times the factor, rounded up and at least 1; 0 stays 0.
    pub(crate) fn of_count(self, count: u64) -> u64 {
        let product = u128::from(count) * u128::from(self.numerator);
        u64::try_from(product.div_ceil(u128::from(self.denominator))).unwrap_or(u64::MAX)
    }

    /// Returns how many of the first things and of their multiples there are for the one at index
    /// `at`, so that all together are `of_count` of their number.
    pub(crate) fn copies(self, at: u64) -> u64 {
        let before = if at == 0 { 0 } else { self.of_count(at) };
        self.of_count(at + 1) - before
    }

    pub(crate) fn of_rate(self, rate: Rate) -> Rate {
        Rate { count: self.of_count(rate.count), per: rate.per }
    }

    /// Returns a length divided by the factor, at least 1 ns; 0 stays 0.
    pub(crate) fn shortens(self, length: Nanos) -> Nanos {
        let shorter = i128::from(length.0) * i128::from(self.denominator) / i128::from(self.numerator);
        Nanos(i64::try_from(shorter).unwrap_or(i64::MAX).max(i64::from(length.0 > 0)))
    }

    /// Returns a condition with its counts and rates times the factor.
    pub(crate) fn of_condition(self, condition: &Condition) -> Condition {
        condition.scaled(self.numerator, self.denominator)
    }
}
