//! [`PoissonTable`]: Poisson-distributed counts by inversion.

use wavetank_units::{Nanos, Rate};

/// Turns 64 random bits into a Poisson-distributed count.
///
/// The table holds the thresholds of the cumulative distribution function, scaled to 2^64. It is
/// exact for any mean to the precision of a double (about 1e-15 of probability).
///
/// It is built with `+ − × ÷` alone, which IEEE 754 rounds identically on every machine. `exp` and
/// `ln` differ between C libraries and processors, and two agents that disagree on one count would
/// disagree on every later index.
#[derive(Clone, Debug)]
pub(crate) struct PoissonTable {
    /// The count for values below the first threshold.
    low: u64,
    /// A value below `thresholds[k]`, and not below the previous threshold, gives the count `low +
    /// k`.
    thresholds: Vec<u64>,
}

impl PoissonTable {
    /// Weights below this, relative to the largest, cannot occur with 64 random bits.
    const NEGLIGIBLE: f64 = 1e-24;

    /// The counts of arrivals at `rate` in a stretch of `len`.
    ///
    /// The rate is capped at one arrival per nanosecond, so that the table stays small: 20 standard
    /// deviations, at most 64 thousand entries for 10 ms.
    pub(crate) fn new(rate: Rate, len: Nanos) -> Self {
        let per_ns = (rate.count as f64 / rate.per.0.max(1) as f64).min(1.0);
        let mean = per_ns * len.0 as f64;
        // Weights relative to the most likely count, outwards from it:
        // w(n + 1) = w(n) × mean / (n + 1).
        let mode = mean as u64;
        let mut below = Vec::new();
        let (mut n, mut weight) = (mode, 1.0);
        while n > 0 && weight > Self::NEGLIGIBLE {
            weight *= n as f64 / mean;
            n -= 1;
            below.push(weight);
        }
        let low = mode - below.len() as u64;
        let mut weights: Vec<f64> = below.into_iter().rev().chain([1.0]).collect();
        let (mut n, mut weight) = (mode, 1.0);
        while weight > Self::NEGLIGIBLE {
            n += 1;
            weight *= mean / n as f64;
            weights.push(weight);
        }
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut thresholds: Vec<u64> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                // The cast saturates at the top.
                (sum / total * 18_446_744_073_709_551_616.0) as u64
            })
            .collect();
        // The rest at the top belongs to the last count that can occur at all.
        thresholds.pop();
        while thresholds.last() == Some(&u64::MAX) {
            thresholds.pop();
        }
        Self { low, thresholds }
    }

    /// Returns the count for the random value `word`.
    #[inline]
    pub(crate) fn count(&self, word: u64) -> u64 {
        match self.thresholds.first() {
            // Low rates have mostly empty blocks, and many of them to go through.
            Some(&first) if word >= first => {
                self.low + self.thresholds.partition_point(|&threshold| threshold <= word) as u64
            }
            _ => self.low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Philox;

    /// Mean and variance are the mean, and the spread over counts fits (chi square, fixed seed).
    fn check(mean: f64, rate: Rate) {
        let table = PoissonTable::new(rate, Nanos::from_millis(10));
        let mut random = Philox::keyed(3, 0, mean.to_bits());
        let draws = 200_000;
        let counts: Vec<f64> = (0..draws).map(|_| table.count(random.next_u64()) as f64).collect();
        let average = counts.iter().sum::<f64>() / f64::from(draws);
        let variance = counts.iter().map(|n| (n - average).powi(2)).sum::<f64>() / f64::from(draws);
        let error = (mean / f64::from(draws)).sqrt();
        assert!((average - mean).abs() < 5.0 * error, "mean {mean}: {average}");
        let error = ((2.0 * mean * mean + mean) / f64::from(draws)).sqrt();
        assert!((variance - mean).abs() < 5.0 * error, "mean {mean}: variance {variance}");
        let (mut chi_square, mut freedom) = (0.0, -1.0_f64);
        let mut n = 0.0;
        let mut log_factorial = 0.0;
        while n < mean + 12.0 * mean.sqrt() + 12.0 {
            let expected = f64::from(draws) * (n * mean.ln() - mean - log_factorial).exp();
            if expected > 8.0 {
                let seen = counts.iter().filter(|&&count| count.to_bits() == n.to_bits()).count() as f64;
                chi_square += (seen - expected).powi(2) / expected;
                freedom += 1.0;
            }
            n += 1.0;
            log_factorial += n.ln();
        }
        assert!(
            chi_square < freedom + 5.0 * (2.0 * freedom.max(1.0)).sqrt(),
            "mean {mean}: {chi_square} / {freedom}"
        );
    }

    #[test]
    fn counts_are_poisson_for_small_and_large_means() {
        check(0.01, Rate::per_second(1));
        check(0.5, Rate::per_second(50));
        check(10.0, Rate::per_second(1_000));
        check(33.33, Rate::per_second(3_333));
        check(500.0, Rate::per_second(50_000));
    }

    #[test]
    fn the_ends_of_the_range_hold() {
        let count = |rate, word| PoissonTable::new(rate, Nanos::from_millis(10)).count(word);
        assert_eq!(count(Rate::per_second(0), u64::MAX), 0);
        assert_eq!(count(Rate { count: 1, per: Nanos::MAX }, u64::MAX / 2), 0);
        let fastest = Rate { count: u64::MAX, per: Nanos(1) };
        assert!(count(fastest, 0) > 9_900_000);
        assert!(count(fastest, u64::MAX) < 10_100_000);
        // The median of a large mean is close to it.
        assert!(count(Rate::per_second(1_000_000), 1 << 63).abs_diff(10_000) <= 1);
    }
}
