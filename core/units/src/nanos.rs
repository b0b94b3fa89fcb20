//! [`Nanos`]: the one unit of time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Nanoseconds: an instant on a clock that the context names, or a duration. One type serves both,
/// because an instant is the duration since the clock's zero. On the run clock, that is the start
/// of the measured load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub i64);

impl Nanos {
    /// The zero of a clock; also the empty length.
    pub const ZERO: Self = Self(0);
    /// Later than every instant of a run.
    pub const MAX: Self = Self(i64::MAX);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);

    /// A length of whole seconds.
    pub const fn from_secs(seconds: i64) -> Self {
        Self(seconds * 1_000_000_000)
    }

    /// A length of whole milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis * 1_000_000)
    }

    /// A length of whole microseconds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros * 1_000)
    }

    /// As seconds, for display and rates.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As microseconds, for the JSON of a run.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The length from `earlier` to `self`, never negative.
    pub fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// The later or the same instant `length` after `self`, stopping at [`Nanos::MAX`].
    #[must_use]
    pub const fn after(self, length: Self) -> Self {
        Self(self.0.saturating_add(length.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// Three significant digits with a fitting unit: `12.3 ms`, `1.20 s`, `2 m 05 s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0 as f64;
        let (value, unit) = match ns.abs() {
            x if x < 999.5 => return write!(f, "{} ns", self.0),
            x if x < 999_500.0 => (ns / 1e3, "µs"),
            x if x < 999_500_000.0 => (ns / 1e6, "ms"),
            x if x < 119_950_000_000.0 => (ns / 1e9, "s"),
            _ => {
                let seconds = (ns / 1e9).round() as i64;
                return if seconds.abs() < 7200 {
                    write!(f, "{} m {:02} s", seconds / 60, (seconds % 60).abs())
                } else {
                    write!(f, "{} h {:02} m", seconds / 3600, (seconds % 3600 / 60).abs())
                };
            }
        };
        let decimals = match value.abs() {
            x if x < 9.995 => 2,
            x if x < 99.95 => 1,
            _ => 0,
        };
        write!(f, "{value:.decimals$} {unit}")
    }
}
