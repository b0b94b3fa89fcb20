//! Text descriptions of what a reader would see in a series.

use wavetank_units::Nanos;

use super::downsample::value;
use super::series::Point;
use super::strings::ChartStrings;

/// Describes a series in a sentence: its first and last value, its minimum and its maximum. `show`
/// formats a value, `clock` an instant.
pub(super) fn describe(
    words: &ChartStrings,
    name: &str,
    points: &[Point],
    show: impl Fn(f64) -> String,
    clock: impl Fn(Nanos) -> String,
) -> String {
    let known: Vec<(Nanos, f64)> =
        points.iter().filter_map(|point| value(point).map(|value| (point.0, value))).collect();
    let least = known.iter().min_by(|one, other| one.1.total_cmp(&other.1));
    // `max_by` returns the last of equal values, so reversing yields the first.
    let most = known.iter().rev().max_by(|one, other| one.1.total_cmp(&other.1));
    let (Some(first), Some(least), Some(most), Some(last)) = (known.first(), least, most, known.last())
    else {
        return (words.nothing)(name);
    };
    if show(least.1) == show(most.1) {
        return (words.throughout)(name, &show(last.1));
    }
    let texts = [show(first.1), show(least.1), clock(least.0), show(most.1), clock(most.0), show(last.1)];
    (words.course)(name, texts.each_ref().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::super::unit::{Unit, clock};
    use super::*;

    fn check(values: &[Option<f64>], expected: &str) {
        let points: Vec<Point> =
            (0..).zip(values).map(|(s, value)| (Nanos::from_secs(s * 10), *value)).collect();
        let show = |value| Unit::Count.value(value);
        let clock = |at| clock(at, Nanos::from_secs(60));
        assert_eq!(describe(&ChartStrings::EN, "open", &points, show, clock), expected);
    }

    #[test]
    fn a_series_in_words() {
        check(&[], "open: no data.");
        check(&[None, Some(f64::NAN)], "open: no data.");
        check(&[Some(5.0), Some(5.0)], "open: 5 throughout.");
        check(
            &[Some(1.0), None, Some(9.0), Some(7.0)],
            "open: first 1, lowest 1 at 00:00, highest 9 at 00:20, last 7.",
        );
        check(
            &[Some(5.0), Some(30.0), Some(30.0)],
            "open: first 5, lowest 5 at 00:00, highest 30 at 00:10, last 30.",
        );
        check(
            &[Some(10.0), Some(30.0), Some(10.5)],
            "open: first 10, lowest 10 at 00:00, highest 30 at 00:10, last 10.5.",
        );
    }
}
