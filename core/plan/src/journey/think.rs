//! [`Think`]: how long a user pauses.

use crate::Nanos;

/// A pause between two requests. Drawn from the seed, the user and where the user stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Always as long.
    Fixed(Nanos),
    /// Any length from the first to the second, all alike.
    Even(Nanos, Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Normal, cut at 0.
    Normal {
        /// The mean.
        mean: Nanos,
        /// The standard deviation.
        deviation: Nanos,
    },
    /// Lognormal.
    Lognormal {
        /// The median.
        median: Nanos,
        /// 95 of 100 pauses are shorter.
        p95: Nanos,
    },
}
