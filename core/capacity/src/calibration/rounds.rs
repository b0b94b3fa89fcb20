//! [`RoundValues`]: the combined result of several measurements of the same thing.

/// Values of the same thing, one a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoundValues(pub Vec<f64>);

impl RoundValues {
    /// Returns the median, or `None` without values. Of an even number of values it is the lower
    /// middle one, so that it is a measured value and not a mean.
    pub fn median(&self) -> Option<f64> {
        median(&self.0)
    }

    /// Least and most; `None` without any.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.0.iter().fold(None, |range, &value| {
            let (least, most) = range.unwrap_or((value, value));
            Some((f64::min(least, value), f64::max(most, value)))
        })
    }

    /// Returns the distance between the lowest and the highest value as a share of the median (>=
    /// 0), or 0 where it is undefined.
    pub fn spread(&self) -> f64 {
        let known = self.median().filter(|median| *median > 0.0).zip(self.range());
        known.map_or(0.0, |(median, (least, most))| (most - least) / median)
    }
}

/// [`RoundValues::median`] of `values`.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], median: Option<f64>, range: Option<(f64, f64)>, spread: f64) {
        let rounds = RoundValues(values.to_vec());
        assert_eq!((rounds.median(), rounds.range()), (median, range), "{values:?}");
        assert!((rounds.spread() - spread).abs() < 1e-12, "{values:?}: {}", rounds.spread());
    }

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        check(&[], None, None, 0.0);
        check(&[7.0], Some(7.0), Some((7.0, 7.0)), 0.0);
        check(&[30.0, 10.0, 20.0], Some(20.0), Some((10.0, 30.0)), 1.0);
        check(&[4.0, 1.0, 3.0, 2.0], Some(2.0), Some((1.0, 4.0)), 1.5);
        check(&[0.0, 0.0, 5.0], Some(0.0), Some((0.0, 5.0)), 0.0);
    }
}
