//! [`Lateness`]: how late something was, in percentiles.

use std::time::Duration;

/// Percentiles of how late something was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lateness {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) p99_9: Duration,
    pub(crate) max: Duration,
}

impl Lateness {
    /// Computes them from all samples by nearest rank. Returns `None` without samples.
    pub(crate) fn from_samples(mut samples: Vec<Duration>) -> Option<Self> {
        samples.sort_unstable();
        let last = samples.len().checked_sub(1)?;
        let at = |share: f64| {
            let rank = (share * samples.len() as f64).ceil() as usize;
            samples[rank.saturating_sub(1).min(last)]
        };
        Some(Self { p50: at(0.5), p99: at(0.99), p99_9: at(0.999), max: at(1.0) })
    }
}

/// Converts to µs, the unit of the tables and of the JSON of a run.
pub(crate) fn micros(length: Duration) -> f64 {
    length.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let samples = (1..=1_000).rev().map(Duration::from_micros).collect();
        let lateness = Lateness::from_samples(samples).expect("has samples");
        let found = [lateness.p50, lateness.p99, lateness.p99_9, lateness.max];
        assert_eq!(found, [500, 990, 999, 1_000].map(Duration::from_micros));
        assert_eq!(Lateness::from_samples(Vec::new()), None);
    }
}
