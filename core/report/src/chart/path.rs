//! Points as the paths of an SVG.

use std::fmt::Write as _;

use wavetank_plan::Nanos;

use super::series::Point;
use super::svg::num;
use super::thin::value;

/// Corners joined by straight lines, beginning anew after each gap; a point alone between gaps is a dot.
pub(super) fn broken(points: &[Point], place: impl Fn(Nanos, f64) -> (f64, f64)) -> String {
    let mut path = String::new();
    for run in points.split(|point| value(point).is_none()).filter(|run| !run.is_empty()) {
        let known = run.iter().filter_map(|point| Some(place(point.0, value(point)?)));
        polyline(&mut path, &known.collect::<Vec<_>>());
    }
    path
}

/// Adds corners joined by straight lines; one alone is a dot: a line without length has round ends. Inner corners of a level
/// stretch are left out.
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
    fn gaps_break_a_line_and_level_stretches_are_short() {
        let values = [Some(1.0), Some(1.0), Some(1.0), Some(2.0), None, Some(3.0), None, Some(f64::NAN)];
        let points: Vec<Point> = (0..).map(Nanos).zip(values).collect();
        let path = broken(&points, |at, value| (at.0 as f64, value));
        assert_eq!(path, "M0 1L2 1L3 2M5 3h0");
    }
}
