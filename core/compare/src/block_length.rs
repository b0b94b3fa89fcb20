//! Computes how long blocks must be so that one block says little about the next.
//!
//! D. N. Politis and H. White, "Automatic block-length selection for the dependent bootstrap",
//! Econometric Reviews 23, 2004, with the correction of A. Patton, D. N. Politis and H. White,
//! Econometric Reviews 28, 2009: the length for the circular bootstrap.

/// Blocks are this many columns long at least: a second's end cuts through what happens.
pub(crate) const COLUMNS_MIN: usize = 2;
/// Fewest blocks of a run. With fewer, the blocks do not show the spread of the run.
pub(crate) const BLOCKS_MIN: usize = 4;

/// Returns the block length, in columns, for a series of `values` in order of time; `None` if the
/// series is too short to cut.
pub(crate) fn block_length(values: &[f64]) -> Option<usize> {
    let longest = values.len() / BLOCKS_MIN;
    (longest >= COLUMNS_MIN).then(|| (wanted(values).ceil() as usize).clamp(COLUMNS_MIN, longest))
}

/// Returns the block length that the autocorrelation requires, in columns.
fn wanted(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let covariance = |lag: usize| {
        let pairs = values.iter().zip(values.iter().skip(lag));
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n
    };
    let variance = covariance(0);
    if variance <= 0.0 {
        return 1.0;
    }
    // The first lag after which a few correlations in a row are no more than chance makes.
    let row = (libm::log10(n).sqrt().ceil() as usize).max(5);
    let chance = 2.0 * (libm::log10(n) / n).sqrt();
    let most = n.sqrt().ceil() as usize + row;
    let correlations: Vec<f64> =
        (1..=most.min(values.len() - 1)).map(|lag| covariance(lag) / variance).collect();
    let quiet = |from: usize| correlations.iter().skip(from).take(row).all(|r| r.abs() < chance);
    let last = (0..correlations.len()).find(|&from| quiet(from)).unwrap_or(correlations.len());
    if last == 0 {
        return 1.0;
    }
    let window = (2 * last).min(values.len() - 1);
    // Flat up to half of the window, then down to nothing.
    let weight = |lag: usize| {
        let share = lag as f64 / window as f64;
        if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) }
    };
    let (mut long_run, mut slope) = (variance, 0.0);
    for lag in 1..=window {
        let term = 2.0 * weight(lag) * covariance(lag);
        long_run += term;
        slope += term * lag as f64;
    }
    let denominator = 4.0 / 3.0 * long_run * long_run;
    if denominator <= 0.0 {
        return last as f64;
    }
    libm::cbrt(2.0 * slope * slope / denominator * n)
}

#[cfg(test)]
mod tests {
    use wavetank_pace::Philox;

    use super::*;

    /// Returns the mean length over many series of 120 values. Each value is `persistence` times
    /// the one before, plus noise.
    fn mean_length(persistence: f64) -> f64 {
        let mut sum = 0;
        for series in 0..200 {
            let mut random = Philox::keyed(3, 0, series);
            let mut value = 0.0;
            let values: Vec<f64> = (0..120)
                .map(|_| {
                    value = persistence * value + (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
                    value
                })
                .collect();
            sum += block_length(&values).unwrap();
        }
        f64::from(u32::try_from(sum).unwrap()) / 200.0
    }

    #[test]
    fn what_lasts_longer_gets_longer_blocks() {
        let lengths = [0.0, 0.5, 0.8].map(mean_length);
        assert!(lengths[0] < 4.0, "{lengths:?}");
        assert!(lengths[0] + 1.0 < lengths[1] && lengths[1] + 1.0 < lengths[2], "{lengths:?}");
        assert!(lengths[2] < 25.0, "{lengths:?}");
    }

    #[test]
    fn few_columns_are_not_cut() {
        assert_eq!(block_length(&[]), None);
        assert_eq!(block_length(&[1.0; 7]), None);
        assert_eq!(block_length(&[1.0; 8]), Some(2));
    }
}
