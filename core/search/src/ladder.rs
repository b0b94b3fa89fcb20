//! Which levels lie inside a bracket, and which next to them.

use crate::{Granularity, Setup};

/// Returns the levels inside `low` to `high`, evenly spaced on a logarithmic scale. If there are
/// too few whole numbers, both ends and their neighbours are included, as far as the limits allow.
/// The result is never empty: without a rate between them, it is the ends themselves.
pub(crate) fn inside(setup: &Setup, low: f64, high: f64) -> Vec<f64> {
    if low >= high {
        return vec![low];
    }
    let wanted = setup.levels as usize;
    let ratio = (high / low).powf(1.0 / (wanted as f64 + 1.0));
    let mut levels: Vec<f64> = (1..=wanted)
        .map(|at| setup.grain.nearest(low * ratio.powi(at as i32)))
        .filter(|&level| low < level && level < high)
        .collect();
    levels.dedup_by(|a, b| a.total_cmp(b).is_eq());
    if setup.grain == Granularity::Rate && levels.is_empty() {
        return vec![low, high];
    }
    if setup.grain == Granularity::Rate || levels.len() == wanted {
        return levels;
    }
    let (mut below, mut above) = (low, high);
    while levels.len() < wanted && (below >= setup.from || above <= setup.to) {
        if above <= setup.to {
            levels.push(above);
        }
        if levels.len() < wanted && below >= setup.from {
            levels.push(below);
        }
        (below, above) = (below - 1.0, above + 1.0);
    }
    levels.sort_by(f64::total_cmp);
    levels
}

/// A level below `level` by `ratio`, not below the limit. `None`: there is none.
pub(crate) fn lower(setup: &Setup, level: f64, ratio: f64) -> Option<f64> {
    let apart = match setup.grain {
        Granularity::Whole => level - 1.0,
        Granularity::Rate => level,
    };
    let next = setup.grain.nearest(level / ratio).min(apart).max(setup.from);
    (next < level).then_some(next)
}

/// A level above `level` by `ratio`, not above `most`. `None`: there is none.
pub(crate) fn higher(setup: &Setup, level: f64, ratio: f64, most: f64) -> Option<f64> {
    let apart = match setup.grain {
        Granularity::Whole => level + 1.0,
        Granularity::Rate => level,
    };
    let next = setup.grain.nearest(level * ratio).max(apart).min(most);
    (next > level).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(grain: Granularity, (low, high): (f64, f64), levels: &[f64]) {
        let setup = Setup::new(grain, 1.0, 1_000.0);
        let found = inside(&setup, low, high);
        let same = found.len() == levels.len() && found.iter().zip(levels).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(same, "{grain:?} {low} to {high}: {found:?}");
    }

    #[test]
    fn levels_are_evenly_apart() {
        check(Granularity::Rate, (100.0, 106.0), &[101.0, 102.0, 103.0, 104.0, 105.0]);
        check(Granularity::Whole, (100.0, 106.0), &[101.0, 102.0, 103.0, 104.0, 105.0]);
    }

    #[test]
    fn few_whole_numbers_bring_their_neighbours() {
        check(Granularity::Whole, (7.0, 8.0), &[6.0, 7.0, 8.0, 9.0, 10.0]);
        check(Granularity::Whole, (1.0, 2.0), &[1.0, 2.0, 3.0, 4.0, 5.0]);
        check(Granularity::Whole, (999.0, 1_000.0), &[996.0, 997.0, 998.0, 999.0, 1_000.0]);
    }

    #[test]
    fn ends_are_all_there_is_where_nothing_lies_between() {
        check(Granularity::Rate, (2_000.0, 2_001.0), &[2_000.0, 2_001.0]);
        check(Granularity::Rate, (100.0, 100.0), &[100.0]);
        check(Granularity::Whole, (1.0, 1.0), &[1.0]);
    }

    #[test]
    fn neighbours_stay_within_the_limits() {
        let setup = Setup::new(Granularity::Whole, 5.0, 10.0);
        assert_eq!(lower(&setup, 6.0, 1.01), Some(5.0));
        assert_eq!(lower(&setup, 5.0, 2.0), None);
        assert_eq!(higher(&setup, 9.0, 4.0, 10.0), Some(10.0));
        assert_eq!(higher(&setup, 10.0, 1.01, 10.0), None);
    }
}
