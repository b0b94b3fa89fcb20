//! [`Number`]: a measured value in JSON.

use serde::{Deserialize, Serialize, Serializer};

/// A measured value: written as an integer if it is whole, as the shortest exact fraction
/// otherwise. `12` therefore does not become `12.0`, and reading it back gives the same value bit
/// for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl Number {
    /// Nanoseconds as microseconds, the unit of every `…_us` field.
    pub fn micros(ns: u64) -> Self {
        Self(ns as f64 / 1e3)
    }

    /// A microsecond value as nanoseconds, for display.
    pub fn as_nanos(self) -> f64 {
        self.0 * 1e3
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Above 2^53 an f64 is always whole but no longer covers every integer; the fraction form
        // keeps it exact.
        if self.0.fract() == 0.0
            && self.0.abs() < 9_007_199_254_740_992.0
            && !(self.0 == 0.0 && self.0.is_sign_negative())
        {
            serializer.serialize_i64(self.0 as i64)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
