//! [`Think`]: how long a user pauses.

use crate::Nanos;

/// A pause between two requests: the grammar's
/// `2s | 1s to 3s | exponential 2s | normal 2s +- 500ms | lognormal 2s p95 8s`. Drawn from the seed, the user and
/// where the user stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Lognormal, cut at 5 deviations of the logarithm. The first number is the median: for a given mean no
    /// lognormal has its 95th percentile beyond 3.87 means, and `2s p95 8s` would not exist.
    Lognormal {
        /// Half of all draws are shorter.
        median: Nanos,
        /// 95 % of all draws are shorter.
        p95: Nanos,
    },
}

impl Think {
    /// No pause is longer, whatever its distribution says.
    pub const LENGTH_MAX: Nanos = Nanos::from_secs(24 * 3_600);
    /// Exponential pauses are at most so many means: beyond lie two draws in a thousand million.
    pub const EXPONENTIAL_MEANS_MAX: f64 = 20.0;
    /// Normal and lognormal pauses stay within so many deviations: beyond lie six draws in ten million.
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

    /// The mean, exact but for what the cuts take away.
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

/// Of the logarithm.
fn deviation(median: Nanos, p95: Nanos) -> f64 {
    (p95.0.max(1) as f64 / median.0.max(1) as f64).ln().max(0.0) / Think::P95_DEVIATIONS
}

/// So many deviations above the median.
fn lognormal(median: Nanos, p95: Nanos, deviations: f64) -> f64 {
    median.0 as f64 * (deviation(median, p95) * deviations).exp()
}

fn clamped(ns: f64) -> Nanos {
    Nanos(ns.clamp(0.0, Think::LENGTH_MAX.0 as f64) as i64)
}
