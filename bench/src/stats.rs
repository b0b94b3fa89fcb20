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

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        let check = |values: &[f64], expected: Option<f64>| assert_eq!(median(values.to_vec()), expected);
        check(&[], None);
        check(&[3.0, 1.0, 2.0], Some(2.0));
        check(&[4.0, 1.0, 3.0, 2.0], Some(2.5));
    }
}
