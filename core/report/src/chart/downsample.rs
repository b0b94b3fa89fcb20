//! [`downsampled`]: fewer points that hide no peak.

use super::series::Point;

/// Points of a drawn line at most, about.
pub(super) const POINTS_MAX: usize = 600;

/// Returns `points`, or, if there are more than [`POINTS_MAX`], the minimum and maximum of each
/// column of points in their order. A gap as long as a column is kept, and so are the first and the
/// last value.
pub(super) fn downsampled(points: &[Point]) -> Vec<Point> {
    if points.len() <= POINTS_MAX {
        return points.to_vec();
    }
    let per = points.len().div_ceil(POINTS_MAX / 2 - 1);
    let mut out = Vec::with_capacity(POINTS_MAX);
    out.push(points[0]);
    for column in points.chunks(per) {
        let known = || column.iter().filter(|point| value(point).is_some());
        let least = known().min_by(|one, other| value(one).total_cmp_with(value(other)));
        let most = known().max_by(|one, other| value(one).total_cmp_with(value(other)));
        match (least, most) {
            (Some(least), Some(most)) if least.0 == most.0 => out.push(*least),
            (Some(least), Some(most)) if least.0 < most.0 => out.extend([*least, *most]),
            (Some(least), Some(most)) => out.extend([*most, *least]),
            _ => out.push((column[0].0, None)),
        }
    }
    out.push(points[points.len() - 1]);
    out.dedup_by_key(|point| point.0);
    out
}

/// A value that can be drawn.
pub(super) fn value(point: &Point) -> Option<f64> {
    point.1.filter(|value| value.is_finite())
}

/// Order of values of which both are known.
trait TotalCmp {
    fn total_cmp_with(self, other: Self) -> std::cmp::Ordering;
}

impl TotalCmp for Option<f64> {
    fn total_cmp_with(self, other: Self) -> std::cmp::Ordering {
        self.unwrap_or(f64::NAN).total_cmp(&other.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use wavetank_units::Nanos;

    use super::*;

    #[test]
    fn a_peak_of_one_second_in_a_day_stays() {
        let mut points: Vec<Point> = (0..86_400).map(|s| (Nanos::from_secs(s), Some(10.0))).collect();
        points[54_321].1 = Some(900.0);
        points[60_000].1 = Some(1.0);
        for point in &mut points[20_000..22_000] {
            point.1 = None;
        }
        let few = downsampled(&points);
        assert!(few.len() <= POINTS_MAX + 2, "{}", few.len());
        assert!(few.contains(&(Nanos::from_secs(54_321), Some(900.0))));
        assert!(few.contains(&(Nanos::from_secs(60_000), Some(1.0))));
        assert!(few.iter().any(|point| point.1.is_none()), "the gap stays");
        assert!(few.windows(2).all(|two| two[0].0 < two[1].0), "in order");
        assert_eq!((few[0], few[few.len() - 1]), (points[0], points[86_399]));
    }

    #[test]
    fn short_series_stay_as_they_are() {
        let points = [(Nanos::ZERO, Some(1.0)), (Nanos::SECOND, None)];
        assert_eq!(downsampled(&points), points);
    }
}
