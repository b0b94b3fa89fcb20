//! Slices of a line chart: their borders, and the values of a line in each of them.

use wavetank_units::Nanos;

use super::downsample::value;
use super::series::{LineStyle, Series};

/// The minimum and maximum in a slice of a chart.
pub(super) type ValueRange = Option<(f64, f64)>;

/// Returns the starts of columns with at least two `points` in their middles, and the end of the
/// last column. Borders are half-way between points; the first and the last column may be shorter
/// than the others.
pub(super) fn borders(points: &[Nanos]) -> Vec<Nanos> {
    let gap = |two: &[Nanos]| two[1].0.saturating_sub(two[0].0);
    let mut gaps: Vec<i64> = points.windows(2).map(gap).collect();
    gaps.sort_unstable();
    let half = gaps[gaps.len() / 2] / 2;
    let last = points.len() - 1;
    let between = |(number, two): (usize, &[Nanos])| {
        let is_short = gap(two) / 2 < half;
        Nanos(match (number, number + 1) {
            (0, _) if is_short && last > 1 => two[1].0.saturating_sub(half),
            (_, second) if is_short && second == last => two[0].0.saturating_add(half),
            _ => two[0].0.saturating_add(gap(two) / 2),
        })
    };
    let inner: Vec<Nanos> = points.windows(2).enumerate().map(between).collect();
    let begin = Nanos(points[0].0.saturating_sub(gap(&[points[0], inner[0]])));
    let end = Nanos(points[last].0.saturating_add(gap(&[inner[last - 1], points[last]])));
    [begin].into_iter().chain(inner).chain([end]).collect()
}

/// Returns the minimum and maximum of a series in each slice. A stair counts with every value that
/// applies anywhere in the slice.
pub(super) fn ranges_in(series: &Series, ends: &[Nanos]) -> Vec<ValueRange> {
    let mut seen: Vec<ValueRange> = vec![None; ends.len() - 1];
    for (number, point) in series.points.iter().enumerate() {
        let Some(value) = value(point) else { continue };
        let until = match (series.form, series.points.get(number + 1)) {
            (LineStyle::Line | LineStyle::AtEnds, _) => Nanos(point.0.0.saturating_add(1)),
            (LineStyle::Step, None) => Nanos(i64::MAX),
            (LineStyle::Step, Some(next)) => next.0,
        };
        // Slices that end after the start of the point, and of these the ones that start before its
        // end.
        let first = ends[1..].partition_point(|end| *end <= point.0);
        let last = ends[..seen.len()].partition_point(|begin| *begin < until);
        for own in seen.get_mut(first..last).unwrap_or_default() {
            let (low, high) = own.unwrap_or((value, value));
            *own = Some((low.min(value), high.max(value)));
        }
    }
    seen
}

/// Whether each slice contains an uncertain value of the line.
pub(super) fn uncertain_in(series: &Series, ends: &[Nanos]) -> Vec<bool> {
    let mut guessed = vec![false; ends.len() - 1];
    let guesses = (0..series.points.len()).filter(|&number| series.is_uncertain(number));
    for point in guesses.map(|number| series.points[number]) {
        let slice = ends[1..].partition_point(|end| *end <= point.0);
        if let Some(own) = guessed.get_mut(slice) {
            *own = true;
        }
    }
    guessed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_at_an_end_may_be_shorter() {
        let check = |middles_ms: &[i64], expected_ms: &[i64]| {
            let of = |ms: &[i64]| ms.iter().map(|&ms| Nanos::from_millis(ms)).collect::<Vec<_>>();
            assert_eq!(borders(&of(middles_ms)), of(expected_ms), "{middles_ms:?}");
        };
        check(&[500, 1_500, 2_500], &[0, 1_000, 2_000, 3_000]);
        check(&[-2_250, -1_500, -500, 500], &[-2_500, -2_000, -1_000, 0, 1_000]);
        check(&[500, 1_500, 2_500, 3_300], &[0, 1_000, 2_000, 3_000, 3_600]);
        check(&[500, 1_500, 4_500, 5_500], &[0, 1_000, 3_000, 5_000, 6_000]);
        check(&[500, 1_500], &[0, 1_000, 2_000]);
    }
}
