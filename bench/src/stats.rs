//! Statistics of rounds, and names of numbers.

/// Returns the suffix of a number's name if it was measured with more than one thread.
pub(crate) fn threads_suffix(threads: usize) -> String {
    if threads == 1 { String::new() } else { format!(" on {threads} threads") }
}

/// Returns the middle value, or the mean of the two middle ones. Returns `None` without values.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// Returns an interval that contains the median of what the values were drawn from with a
/// probability of at least 95 %, by the ranks of the binomial distribution. With fewer than 6
/// values it is their range, which has less.
pub(crate) fn interval_of_median(values: &[f64]) -> (f64, f64) {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    let Some((&first, &last)) = values.first().zip(values.last()) else { return (f64::NAN, f64::NAN) };
    // Probability that at most `rank` values are below the median.
    let mut below = 0.0;
    let mut term = 0.5_f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut interval = (first, last);
    for rank in 0..count / 2 {
        below += term;
        if below > 0.025 {
            break;
        }
        interval = (values[rank], values[count - 1 - rank]);
        term *= (count - rank) as f64 / (rank + 1) as f64;
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::{interval_of_median, median};

    #[test]
    fn the_interval_has_the_ranks_of_the_tables() {
        let values = |count: u32| (1..=count).map(f64::from).collect::<Vec<_>>();
        let check = |count, expected| assert_eq!(interval_of_median(&values(count)), expected, "{count}");
        check(5, (1.0, 5.0));
        check(6, (1.0, 6.0));
        check(10, (2.0, 9.0));
        check(20, (6.0, 15.0));
    }

    #[test]
    fn the_median_is_the_middle() {
        let check = |values: &[f64], expected: Option<f64>| assert_eq!(median(values.to_vec()), expected);
        check(&[], None);
        check(&[3.0, 1.0, 2.0], Some(2.0));
        check(&[4.0, 1.0, 3.0, 2.0], Some(2.5));
    }
}
