//! Positions of the markers on a line.

/// Markers on a line that is as long as the plot.
const MARKERS: usize = 5;

/// Returns the places (0 to 1) of the markers of the `number`-th of `all` lines. They are at even
/// steps over the plot, and never where another line has one.
pub(super) fn places(number: usize, all: usize) -> impl Iterator<Item = f64> {
    let offset = (number as f64 + 0.5) / all.max(number + 1) as f64;
    (0..MARKERS).map(move |place| (place as f64 + offset) / MARKERS as f64)
}

/// Returns the points of a line that are nearest to the target `places`, in a plot that is `wide`
/// units across. A marker is read as a measured value, so it is drawn at measured points only.
/// `points` are in order.
///
/// Points further away than half a step between places are not used. If all points of a line are
/// further away, the point in its middle has the marker: nothing else distinguishes the line
/// without colours.
pub(super) fn marker_points(
    points: &[(f64, f64)],
    wide: f64,
    places: impl Iterator<Item = f64>,
) -> Vec<(f64, f64)> {
    let nearest = |x: f64| {
        let next = points.partition_point(|point| point.0 < x);
        let both = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|at| points.get(at));
        both.copied().min_by(|one, other| (one.0 - x).abs().total_cmp(&(other.0 - x).abs()))
    };
    let reach = 0.5 * wide / MARKERS as f64;
    let near = |place: f64| nearest(place * wide).filter(|point| (point.0 - place * wide).abs() <= reach);
    let mut marked: Vec<(f64, f64)> = places.filter_map(near).collect();
    marked.dedup();
    if marked.is_empty() {
        marked.extend(points.get(points.len() / 2));
    }
    marked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_evenly_apart_and_next_to_those_of_others() {
        let of = |number| places(number, 2).map(|place| (place * 1e3_f64).round()).collect::<Vec<_>>();
        assert_eq!(of(0), [50.0, 250.0, 450.0, 650.0, 850.0]);
        assert_eq!(of(1), [150.0, 350.0, 550.0, 750.0, 950.0]);
    }

    #[test]
    fn markers_stand_on_points() {
        let check = |points: &[(f64, f64)], expected: &[f64]| {
            let marked: Vec<f64> =
                marker_points(points, 1_000.0, places(0, 1)).iter().map(|point| point.0).collect();
            assert_eq!(marked, expected, "{points:?}");
        };
        let every = |step| (0..=1_000).step_by(step).map(|x| (f64::from(x), 5.0)).collect::<Vec<_>>();
        check(&every(10), &[100.0, 300.0, 500.0, 700.0, 900.0]);
        check(&every(125), &[125.0, 250.0, 500.0, 750.0, 875.0]);
        // There is no marker in a gap, and each point has at most one.
        check(&[(0.0, 5.0), (200.0, 5.0), (950.0, 7.0)], &[0.0, 200.0, 950.0]);
        check(&[(150.0, 1.0), (160.0, 2.0), (201.0, 3.0)], &[150.0, 201.0]);
        check(&[], &[]);
        // Too far from any place of its line.
        let end = [(1_000.0, 1.0)];
        assert_eq!(marker_points(&end, 1_000.0, places(0, 2)), end);
    }
}
