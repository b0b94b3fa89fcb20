//! Points as the paths of an SVG.

use std::fmt::Write as _;

use wavetank_units::Nanos;

use super::downsample::value;
use super::series::Point;
use super::svg::num;

/// Returns a path of corners joined by straight lines, with a new start after each gap. A single
/// point between gaps is a dot.
pub(super) fn polyline_with_gaps(points: &[Point], place: impl Fn(Nanos, f64) -> (f64, f64)) -> String {
    let mut path = String::new();
    for run in points.split(|point| value(point).is_none()).filter(|run| !run.is_empty()) {
        let known = run.iter().filter_map(|point| Some(place(point.0, value(point)?)));
        polyline(&mut path, &known.collect::<Vec<_>>());
    }
    path
}

/// Returns the uncertain parts of a line through `points`: those that start or end at a point
/// without a value in `sure`. `sure` has the same instants.
pub(super) fn uncertain_parts(points: &[Point], sure: &[Point]) -> Vec<Point> {
    let is_guess =
        |at: usize| value(&points[at]).is_some() && sure.get(at).is_none_or(|own| value(own).is_none());
    let is_drawn = |at: usize| (at.saturating_sub(1)..points.len().min(at + 2)).any(is_guess);
    points.iter().enumerate().map(|(at, point)| (point.0, point.1.filter(|_| is_drawn(at)))).collect()
}

/// Adds corners joined by straight lines. A single corner is a dot, because a line without length
/// has round ends. Inner corners of a level stretch are left out.
pub(super) fn polyline(path: &mut String, corners: &[(f64, f64)]) {
    let mut pen = 'M';
    for (number, (x, y)) in corners.iter().enumerate() {
        let level = |other: Option<&(f64, f64)>| other.is_some_and(|corner| num(corner.1) == num(*y));
        if number > 0 && level(corners.get(number - 1)) && level(corners.get(number + 1)) {
            continue;
        }
        let _ = write!(path, "{pen}{} {}", num(*x), num(*y));
        pen = 'L';
    }
    if corners.len() == 1 {
        path.push_str("h0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_guess_begins_and_ends_where_it_is_sure() {
        let at = |values: &[u8]| -> Vec<Point> {
            (0..).map(Nanos).zip(values.iter().map(|&value| (value > 0).then(|| f64::from(value)))).collect()
        };
        let check = |sure: &[u8], guess: &[u8]| {
            assert_eq!(uncertain_parts(&at(&[1, 2, 3, 4, 5, 6]), &at(sure)), at(guess), "{sure:?}");
        };
        check(&[1, 2, 3, 4, 5, 6], &[0; 6]);
        check(&[0; 6], &[1, 2, 3, 4, 5, 6]);
        check(&[1, 2, 3, 4, 5, 0], &[0, 0, 0, 0, 5, 6]);
        check(&[1, 2, 0, 4, 5, 6], &[0, 2, 3, 4, 0, 0]);
    }

    #[test]
    fn gaps_break_a_line_and_level_stretches_are_short() {
        let values = [Some(1.0), Some(1.0), Some(1.0), Some(2.0), None, Some(3.0), None, Some(f64::NAN)];
        let points: Vec<Point> = (0..).map(Nanos).zip(values).collect();
        let path = polyline_with_gaps(&points, |at, value| (at.0 as f64, value));
        assert_eq!(path, "M0 1L2 1L3 2M5 3h0");
    }
}
