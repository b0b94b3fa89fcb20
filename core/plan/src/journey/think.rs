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
