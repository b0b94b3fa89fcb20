//! [`Think`]: how long a user pauses.

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

/// A pause between two requests: the grammar's `2s | 1s to 3s | exponential 2s | normal 2s +- 500ms
/// | lognormal 2s p95 8s`. It is drawn from the seed, the user and the position in the journey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// Every length between the two, both included, equally likely.
    Even {
        /// The shortest.
        from: Nanos,
        /// The longest.
        to: Nanos,
    },
    /// Exponential with this mean, cut at 20 means.
    Exponential {
        /// The mean.
        mean: Nanos,
    },
    /// Normal, cut at 0 and at 5 deviations.
    Normal {
        /// The mean.
        mean: Nanos,
        /// The standard deviation.
        deviation: Nanos,
    },
    /// Lognormal, cut at 5 deviations of the logarithm. The first number is the median. With a mean
    /// instead, the 95th percentile of a lognormal is at most 3.87 means, so `2s p95 8s` would not
    /// exist.
    Lognormal {
        /// Half of all draws are shorter.
        median: Nanos,
        /// 95 % of all draws are shorter.
        p95: Nanos,
    },
}

impl Think {
    /// No pause is longer, regardless of its distribution.
    pub const LENGTH_MAX: Nanos = Nanos::from_secs(24 * 3_600);
    /// Limit of exponential pauses, in means. Two draws in 10^9 are beyond it.
    pub const EXPONENTIAL_MEANS_MAX: f64 = 20.0;
    /// Limit of normal and lognormal pauses, in standard deviations. Six draws in ten million are
    /// beyond it.
    pub const DEVIATIONS_MAX: f64 = 5.0;
    /// 95 % of a standard normal variable lie below.
    pub const P95_DEVIATIONS: f64 = 1.644_853_626_951_472_2;

    /// No pause is shorter.
    pub fn shortest(self) -> Nanos {
        match self {
            Self::Fixed(length) => length,
            Self::Even { from, .. } => from,
            Self::Exponential { .. } => Nanos::ZERO,
            Self::Normal { mean, deviation } => {
                clamped(mean.0 as f64 - deviation.0 as f64 * Self::DEVIATIONS_MAX)
            }
            Self::Lognormal { median, p95 } => clamped(lognormal(median, p95, -Self::DEVIATIONS_MAX)),
        }
    }

    /// Returns the mean, exact except for the effect of the cuts.
    pub fn mean(self) -> Nanos {
        match self {
            Self::Fixed(length) => length,
            Self::Even { from, to } => Nanos(from.0.midpoint(to.0)),
            Self::Exponential { mean } | Self::Normal { mean, .. } => mean,
            Self::Lognormal { median, p95 } => clamped(lognormal(median, p95, deviation(median, p95) / 2.0)),
        }
    }

    /// No pause is longer.
    pub fn longest(self) -> Nanos {
        match self {
            Self::Fixed(length) => length,
            Self::Even { to, .. } => to,
            Self::Exponential { mean } => clamped(mean.0 as f64 * Self::EXPONENTIAL_MEANS_MAX),
            Self::Normal { mean, deviation } => {
                clamped(mean.0 as f64 + deviation.0 as f64 * Self::DEVIATIONS_MAX)
            }
            Self::Lognormal { median, p95 } => clamped(lognormal(median, p95, Self::DEVIATIONS_MAX)),
        }
    }
}

/// Returns the standard deviation of the logarithm.
fn deviation(median: Nanos, p95: Nanos) -> f64 {
    (p95.0.max(1) as f64 / median.0.max(1) as f64).ln().max(0.0) / Think::P95_DEVIATIONS
}

/// Returns the value that is `deviations` above the median.
fn lognormal(median: Nanos, p95: Nanos, deviations: f64) -> f64 {
    median.0 as f64 * (deviation(median, p95) * deviations).exp()
}

fn clamped(ns: f64) -> Nanos {
    Nanos(ns.clamp(0.0, Think::LENGTH_MAX.0 as f64) as i64)
}
