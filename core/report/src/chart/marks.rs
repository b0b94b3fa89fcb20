//! Where on a line its markers stand.

/// Markers on a line that is as long as the plot.
const MARKERS: usize = 5;

/// Places (0 to 1) of the markers of the `number`-th of `all` lines, at even steps over the plot and none where another line has one.
pub(super) fn places(number: usize, all: usize) -> impl Iterator<Item = f64> {
    let offset = (number as f64 + 0.5) / all.max(number + 1) as f64;
    (0..MARKERS).map(move |place| (place as f64 + offset) / MARKERS as f64)
}

/// Where a line passes the wanted `places` of a plot `wide` units across, between its corners if need be and never in a gap. `runs` are
/// its corners in order, a run for each part between gaps. A line too short for any place has one marker in its middle: nothing else
/// tells it from others without colours.
pub(super) fn on_line(
    runs: &[Vec<(f64, f64)>],
    wide: f64,
    places: impl Iterator<Item = f64>,
) -> Vec<(f64, f64)> {
    let at = |x: f64| runs.iter().find_map(|run| Some((x, height_at(run, x)?)));
    let marked: Vec<(f64, f64)> = places.filter_map(|place| at(place * wide)).collect();
    if !marked.is_empty() {
        return marked;
    }
    let corners: Vec<(f64, f64)> = runs.concat();
    corners.get(corners.len() / 2).copied().into_iter().collect()
}

/// How high the line through a run's corners is at `x`; `None` beyond its ends.
fn height_at(run: &[(f64, f64)], x: f64) -> Option<f64> {
    let next = run.partition_point(|corner| corner.0 < x);
    let (after, before) = (run.get(next)?, run.get(next.checked_sub(1)?)?);
    let share = (x - before.0) / (after.0 - before.0);
    Some(before.1 + (after.1 - before.1) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_evenly_apart_and_beside_those_of_others() {
        let of = |number| places(number, 2).map(|place| (place * 1e3_f64).round()).collect::<Vec<_>>();
        assert_eq!(of(0), [50.0, 250.0, 450.0, 650.0, 850.0]);
        assert_eq!(of(1), [150.0, 350.0, 550.0, 750.0, 950.0]);
    }

    #[test]
    fn markers_lie_on_their_line() {
        let check = |runs: &[Vec<(f64, f64)>], expected: &[(f64, f64)]| {
            let marked = on_line(runs, 1_000.0, places(0, 1));
            assert_eq!(marked, expected, "{runs:?}");
        };
        let all = vec![(0.0, 0.0), (1_000.0, 100.0)];
        check(&[all], &[(100.0, 10.0), (300.0, 30.0), (500.0, 50.0), (700.0, 70.0), (900.0, 90.0)]);
        // None in a gap.
        let gap = [vec![(0.0, 5.0), (200.0, 5.0)], vec![(600.0, 5.0)], vec![(800.0, 7.0), (1_000.0, 7.0)]];
        check(&gap, &[(100.0, 5.0), (900.0, 7.0)]);
        check(&[vec![(150.0, 1.0), (160.0, 2.0), (170.0, 3.0)]], &[(160.0, 2.0)]);
        check(&[], &[]);
    }
}
