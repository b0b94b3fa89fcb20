//! [`Metric`]: what is read from counts: the value that two sides are compared by.

use wavetank_measure::Histogram;

/// The value that is computed from summed counts. It always comes from the sum: percentiles are
/// never averaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// A percentile (0 to 100) of times in nanoseconds; an index is a bucket of [`Histogram`].
    Percentile(f64),
    /// The count of events at index 0 divided by the units of time at index 1.
    Rate,
    /// The count of events at index 0 divided by that of all there were, at index 1.
    Share,
}

/// Two rates are no nearer to each other than this, as a share: seconds end where they end.
const QUOTIENT_STEP: f64 = 0.000_5;

impl Metric {
    /// Returns the natural logarithm of the value in `counts`, with `indices` giving the meaning of
    /// its places; `None` if nothing was counted. Zero events count as half an event, so that a
    /// share of zero has a logarithm.
    pub(crate) fn log(self, indices: &[u16], counts: &[u64]) -> Option<f64> {
        match self {
            Self::Percentile(q) => {
                let at = place(q, counts)?;
                Some(libm::log(Histogram::highest_equivalent(usize::from(indices[at])).max(1) as f64))
            }
            Self::Rate | Self::Share => {
                let count = |wanted: u16| {
                    indices.iter().position(|&index| index == wanted).map_or(0, |at| counts[at])
                };
                let of = count(1);
                (of > 0).then(|| libm::log((count(0) as f64 + 0.5) / of as f64))
            }
        }
    }

    /// Returns the variance of the logarithm that more runs cannot reduce: a histogram knows a time
    /// to a bucket's width.
    pub(crate) fn resolution(self, indices: &[u16], counts: &[u64]) -> f64 {
        match self {
            Self::Percentile(q) => place(q, counts).map_or(0.0, |at| {
                let index = usize::from(indices[at]);
                let high = Histogram::highest_equivalent(index).max(1) as f64;
                let width = high + 1.0 - Histogram::lowest_equivalent(index) as f64;
                (width / high).powi(2) / 12.0
            }),
            // One event more or less at an end is not significant.
            Self::Rate | Self::Share => {
                QUOTIENT_STEP * QUOTIENT_STEP + (1.0 / (events(indices, counts) + 1.0)).powi(2)
            }
        }
    }

    /// Returns the least variance of the logarithm for independent events. A count of them scatters
    /// by its square root, even if every run counted the same.
    pub(crate) fn counting(self, indices: &[u16], counts: &[u64]) -> f64 {
        match self {
            // Arrivals of a plan are not random, so a rate scatters only as much as runs and blocks
            // do.
            Self::Percentile(_) | Self::Rate => 0.0,
            Self::Share => 1.0 / (events(indices, counts) + 0.5),
        }
    }

    /// Returns how much a column with `counts` contributes to the error of the value (its
    /// influence), which decides the length of blocks. `whole` are the counts of all columns
    /// together.
    pub(crate) fn influence(self, indices: &[u16], counts: &[u64], whole: &[u64]) -> f64 {
        match self {
            Self::Percentile(q) => {
                let Some(at) = place(q, whole) else { return 0.0 };
                let above: u64 = counts[at + 1..].iter().sum();
                let all_above: u64 = whole[at + 1..].iter().sum();
                let (n, all) = (counts.iter().sum::<u64>(), whole.iter().sum::<u64>());
                above as f64 - n as f64 * (all_above as f64 / all as f64)
            }
            Self::Rate | Self::Share => {
                let at = |wanted: u16| indices.iter().position(|&index| index == wanted);
                let of = |counts: &[u64], wanted| at(wanted).map_or(0.0, |at| counts[at] as f64);
                let ratio = if of(whole, 1) > 0.0 { of(whole, 0) / of(whole, 1) } else { 0.0 };
                of(counts, 0) - ratio * of(counts, 1)
            }
        }
    }
}

/// The count at index 0.
fn events(indices: &[u16], counts: &[u64]) -> f64 {
    indices.iter().position(|&index| index == 0).map_or(0, |at| counts[at]) as f64
}

/// Returns the place of percentile `q` by nearest rank, as in [`Histogram::percentile`]; `None` if
/// nothing was counted.
fn place(q: f64, counts: &[u64]) -> Option<usize> {
    let all: u64 = counts.iter().sum();
    if all == 0 {
        return None;
    }
    let rank = all - Histogram::count_above_percentile(all, q);
    // From above, since most percentiles asked for are high.
    let mut above = all;
    for (at, &n) in counts.iter().enumerate().rev() {
        above -= n;
        if above < rank {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_histogram() {
        let mut histogram = Histogram::default();
        for n in 0..1_000_u64 {
            histogram.record(1_000 + n * n * 37);
        }
        let (indices, counts): (Vec<u16>, Vec<u64>) =
            histogram.iter().map(|(index, n)| (index as u16, n)).unzip();
        for q in [0.1, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
            let at = place(q, &counts).unwrap();
            let high = Histogram::highest_equivalent(usize::from(indices[at])).min(histogram.max());
            assert_eq!(Some(high), histogram.percentile(q), "p{q}");
        }
        assert_eq!(place(50.0, &[0, 0]), None);
        assert_eq!(Metric::Percentile(50.0).log(&[1, 2], &[0, 0]), None);
    }

    #[test]
    fn a_share_of_nothing_has_a_logarithm_and_little_certainty() {
        let none = Metric::Share.log(&[1], &[1_000]).unwrap();
        let two = Metric::Share.log(&[0, 1], &[2, 1_000]).unwrap();
        assert!((libm::exp(two - none) - 5.0).abs() < 1e-9, "{}", libm::exp(two - none));
        assert!(Metric::Share.counting(&[1], &[1_000]) >= 2.0);
        assert!(Metric::Share.counting(&[0, 1], &[1_000_000, 30]) < 1.1e-6);
        assert_eq!(Metric::Share.log(&[0], &[5]), None);
    }

    #[test]
    fn influences_add_up_to_nothing() {
        let indices = [10, 20, 30];
        let columns = [[5, 0, 1], [7, 2, 0], [0, 3, 2]];
        let whole = [12, 5, 3];
        for measure in [Metric::Percentile(50.0), Metric::Percentile(80.0)] {
            let sum: f64 = columns.iter().map(|column| measure.influence(&indices, column, &whole)).sum();
            assert!(sum.abs() < 1e-9, "{measure:?}: {sum}");
        }
        let columns = [[5, 10], [7, 8]];
        let sum: f64 = columns.iter().map(|column| Metric::Share.influence(&[0, 1], column, &[12, 18])).sum();
        assert!(sum.abs() < 1e-9, "{sum}");
    }
}
