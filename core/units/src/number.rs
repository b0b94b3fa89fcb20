//! [`Number`]: a number in a check.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A number as written in a check or in a response. Whole numbers are exact, since identifiers
/// often have more digits than a floating-point number.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Number {
    /// A whole number of up to 38 digits.
    Whole(i128),
    /// Any other finite number.
    Real(f64),
}

impl Number {
    /// Parses a decimal number with an optional fraction and exponent. Returns `None` for other
    /// text, and for a number that is too large.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // `5.0` is whole, too (JSON Schema and most languages agree).
        let whole = match text.split_once('.') {
            Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
            _ => text,
        };
        if let Ok(whole) = whole.parse() {
            return Some(Self::Whole(whole));
        }
        let real = text.parse::<f64>().ok()?;
        real.is_finite().then_some(Self::Real(real))
    }

    /// Returns the nearest floating-point number.
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Real(real) => write!(f, "{real}"),
        }
    }
}

impl From<f64> for Number {
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

impl From<u64> for Number {
    fn from(whole: u64) -> Self {
        Self::Whole(whole.into())
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(left), Self::Whole(right)) => Some(left.cmp(right)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_compared_exactly() {
        let number = |text: &str| Number::parse(text).unwrap_or_else(|| panic!("{text} is a number"));
        let check = |left: &str, right: &str, expected: Ordering| {
            assert_eq!(number(left).partial_cmp(&number(right)), Some(expected), "{left} {right}");
            assert_eq!(number(right).partial_cmp(&number(left)), Some(expected.reverse()), "{right} {left}");
        };
        check("9007199254740993", "9007199254740992", Ordering::Greater);
        check("-9007199254740993", "-9007199254740992", Ordering::Less);
        check("9007199254740993.0", "9007199254740992", Ordering::Greater);
        check("18446744073709551616", "18446744073709551617", Ordering::Less);
        check("5", "5.0", Ordering::Equal);
        check("1e3", "1000", Ordering::Equal);
        check("-0", "0", Ordering::Equal);
        check("0.5", "1", Ordering::Less);
        check(" 7 ", "007", Ordering::Equal);
        check(&"9".repeat(60), "1e60", Ordering::Equal);
        for text in ["", "-", "a", "1a", ".", "nan", "inf", "1e999", "1 2"] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }
}
