//! [`Rate`]: arrivals per time as an exact fraction.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// `count` arrivals in each `per`: exact, so that schedules never drift. `0/s` is `count` 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rate {
    /// Arrivals in each `per`.
    pub count: u64,
    /// The length they are counted over; always positive.
    pub per: Nanos,
}

impl Rate {
    /// `count` arrivals a second.
    pub const fn per_second(count: u64) -> Self {
        Self { count, per: Nanos::SECOND }
    }

    /// As arrivals per second, for display.
    pub fn as_per_second(self) -> f64 {
        self.count as f64 / self.per.as_secs_f64()
    }
}
