//! [`Ratio`]: B divided by A, with what it may be off by.

use crate::Estimate;
use crate::student::{critical, two_sided};

/// The source of an interval's width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalSource {
    /// From how much the runs of each side differ.
    Runs,
    /// One side is a single run: it is taken to vary as the other side's runs do.
    OtherSide,
    /// Each side is a single run, so only blocks within them are known. How much two runs of the
    /// same kind differ is not included, so no difference can be shown.
    Blocks,
    /// Single runs, too short to be cut: there is no interval.
    Nothing,
}

/// B divided by A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The logarithm of B/A.
    pub log: f64,
    /// The standard error of `log`; 0 with [`IntervalSource::Nothing`].
    pub error: f64,
    /// Degrees of freedom of `error`.
    pub freedom: f64,
    /// The source of `error`.
    pub basis: IntervalSource,
}

impl Ratio {
    /// Returns `b` divided by `a`.
    ///
    /// The degrees of freedom of the error are Welch's (B. L. Welch, Biometrika 34, 1947). The
    /// spread between few runs is known so badly that a percentile interval of the drawn samples
    /// would be far too narrow; Student's t corrects for that (T. Hesterberg, "What Teachers Should
    /// Know About the Bootstrap", The American Statistician 69, 2015).
    pub fn between(a: &Estimate, b: &Estimate) -> Self {
        let log = b.log - a.log;
        let known = a.resolution + b.resolution;
        let own = |side: &Estimate| (side.runs as f64 - 1.0).max(1.0);
        let (estimated, freedom, basis) = match (a.spread(), b.spread()) {
            (Some(of_a), Some(of_b)) => {
                let sum = of_a + of_b;
                (sum, satterthwaite(&[(of_a, own(a)), (of_b, own(b))], known), IntervalSource::Runs)
            }
            (Some(spread), None) => borrowed(spread, a, b, known),
            (None, Some(spread)) => borrowed(spread, b, a, known),
            (None, None) => match (a.within, b.within) {
                (Some(_), Some(_)) => {
                    let (of_a, of_b) = (a.variance_floor(), b.variance_floor());
                    let parts = [(of_a, a.freedom_within()), (of_b, b.freedom_within())];
                    (of_a + of_b, satterthwaite(&parts, known), IntervalSource::Blocks)
                }
                _ => return Self { log, error: 0.0, freedom: 1.0, basis: IntervalSource::Nothing },
            },
        };
        Self { log, error: (estimated + known).sqrt(), freedom, basis }
    }

    /// The ratio itself.
    pub fn value(&self) -> f64 {
        libm::exp(self.log)
    }

    /// Returns the interval that contains the true ratio with probability 1 − `p`, if only chance
    /// is at work; `None` if there is no interval.
    pub fn interval(&self, p: f64) -> Option<(f64, f64)> {
        if self.basis == IntervalSource::Nothing {
            return None;
        }
        let half = critical(p, self.freedom) * self.error;
        Some((libm::exp(self.log - half), libm::exp(self.log + half)))
    }

    /// Returns the chance of a ratio at least this far from 1 if the sides do not differ; `None` if
    /// the runs cannot show it.
    pub fn p_value(&self) -> Option<f64> {
        self.is_informative().then(|| two_sided(self.log / self.error, self.freedom))
    }

    /// Returns the chance of a ratio at least this far beyond `limit` if the true ratio is not:
    /// above a limit ≥ 1, below one < 1. It is two-sided, so 0.05 means that the end of the 95 %
    /// interval is at the limit. `None` if the runs cannot show it; 1 if the ratio is not beyond
    /// the limit.
    pub fn p_value_beyond(&self, limit: f64) -> Option<f64> {
        let sign = if limit >= 1.0 { 1.0 } else { -1.0 };
        let beyond = sign * (self.log - libm::log(limit));
        self.is_informative()
            .then(|| if beyond > 0.0 { two_sided(beyond / self.error, self.freedom) } else { 1.0 })
    }

    /// Returns the smallest difference, as a share of A, that would have been shown four times in
    /// five at level `p`; `None` if the runs cannot show any.
    pub fn minimum_detectable_effect(&self, p: f64) -> Option<f64> {
        self.is_informative().then(|| libm::exp(sum_of_quantiles(p, self.freedom) * self.error) - 1.0)
    }

    fn is_informative(&self) -> bool {
        matches!(self.basis, IntervalSource::Runs | IntervalSource::OtherSide) && self.error > 0.0
    }
}

/// How far beyond 0 a true difference must lie, in standard errors, to be shown four times in five.
fn sum_of_quantiles(p: f64, freedom: f64) -> f64 {
    critical(p, freedom) + critical(0.4, freedom)
}

/// Returns how many runs a side show a true `difference` of logarithms four times in five at level
/// `p`, where one run's logarithm has the variance `of_one`. At least 3, since two runs say almost
/// nothing about how much runs differ. `None` above [`RUNS_MAX`].
pub(crate) fn required_runs(difference: f64, of_one: f64, p: f64) -> Option<u32> {
    let enough = |n: &u32| {
        let error = (2.0 * of_one / f64::from(*n)).sqrt();
        sum_of_quantiles(p, 2.0 * (f64::from(*n) - 1.0)) * error <= difference.abs()
    };
    (3..=RUNS_MAX).find(enough)
}

/// More runs than this are not realistic for a comparison.
pub(crate) const RUNS_MAX: u32 = 100;

/// One side is a single run. The difference of n runs shows what one more would vary by: their
/// variance is n times that of their mean.
fn borrowed(spread: f64, many: &Estimate, single: &Estimate, known: f64) -> (f64, f64, IntervalSource) {
    let n = many.runs as f64;
    let of_single = (spread * n).max(single.variance_floor());
    let estimated = spread + of_single;
    (estimated, satterthwaite(&[(estimated, n - 1.0)], known), IntervalSource::OtherSide)
}

/// Degrees of freedom of a sum of estimated variances, each with its own, and one that is known.
fn satterthwaite(parts: &[(f64, f64)], known: f64) -> f64 {
    let sum: f64 = parts.iter().map(|&(variance, _)| variance).sum::<f64>() + known;
    let uncertain: f64 = parts.iter().map(|&(variance, freedom)| variance * variance / freedom).sum();
    if uncertain > 0.0 { (sum * sum / uncertain).min(1e5) } else { 1e5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[f64]) -> Estimate {
        Estimate::from_scalars(values).unwrap()
    }

    /// Against Welch's test by hand on the logarithms: t = 4.487 with 3.078 degrees of freedom.
    #[test]
    fn is_welchs_test_for_figures() {
        let a = figures(&[10.0, 10.4, 9.8, 10.1]);
        let b = figures(&[11.0, 11.9, 11.2]);
        let ratio = Ratio::between(&a, &b);
        assert!((ratio.value() - 1.127_82).abs() < 1e-5, "{}", ratio.value());
        assert!((ratio.freedom - 3.078).abs() < 0.05, "{}", ratio.freedom);
        assert!((ratio.log / ratio.error - 4.487).abs() < 0.01, "{}", ratio.log / ratio.error);
        let p = ratio.p_value().unwrap();
        let (low, high) = ratio.interval(0.05).unwrap();
        assert!(low > 1.0 && high < 1.25, "{low} {high}");
        // The interval that is as wide as p says ends at 1.
        assert!((ratio.interval(p).unwrap().0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn single_runs_show_nothing() {
        let single = Estimate { within: Some(1e-4), blocks: 10, ..figures(&[10.0]) };
        let ratio = Ratio::between(&single, &Estimate { log: single.log + 1.0, ..single });
        assert_eq!(
            (ratio.basis, ratio.p_value(), ratio.minimum_detectable_effect(0.05)),
            (IntervalSource::Blocks, None, None)
        );
        assert!(ratio.interval(0.05).unwrap().0 > 2.0);
        let short = Ratio::between(&figures(&[10.0]), &figures(&[20.0]));
        assert_eq!(
            (short.basis, short.interval(0.05), short.p_value_beyond(1.1)),
            (IntervalSource::Nothing, None, None)
        );
    }

    #[test]
    fn one_run_is_measured_by_the_others_spread() {
        let many = figures(&[10.0, 10.2, 9.9, 10.1, 9.8]);
        let ratio = Ratio::between(&many, &figures(&[11.0]));
        assert_eq!(ratio.basis, IntervalSource::OtherSide);
        assert!((ratio.freedom - 4.0).abs() < 0.1, "{}", ratio.freedom);
        // 6 times the variance of a mean of five: the mean's own and five times that for the single
        // run.
        let error = (6.0 * many.between.unwrap()).sqrt();
        assert!((ratio.error / error - 1.0).abs() < 0.01, "{} {error}", ratio.error);
    }

    #[test]
    fn beyond_a_limit_is_asked_in_one_direction() {
        let ratio = Ratio::between(&figures(&[10.0, 10.1, 9.9]), &figures(&[13.0, 13.1, 12.9]));
        let p = |limit| ratio.p_value_beyond(limit).unwrap();
        assert!(p(1.1) < 0.01 && p(1.29) > 0.2 && p(1.4) > 0.999 && p(0.9) > 0.999);
        assert!(ratio.p_value().unwrap() < p(1.1));
    }

    #[test]
    fn the_smaller_the_difference_the_more_runs() {
        assert_eq!(required_runs(0.5, 1e-4, 0.05), Some(3));
        let (few, many) =
            (required_runs(0.05, 9e-4, 0.05).unwrap(), required_runs(0.02, 9e-4, 0.05).unwrap());
        assert!(few > 3 && many > 2 * few, "{few} {many}");
        assert_eq!(required_runs(1e-5, 1e-2, 0.05), None);
        assert_eq!(required_runs(0.0, 1e-2, 0.05), None);
    }
}
