//! The chance to hold at each level, never rising with the load: isotonic regression.

use crate::LevelTally;

/// Returns the chance to meet the thresholds at each of `levels`, lowest first. Of all sequences
/// that never rise, it is the one with the highest likelihood. Neighbours that contradict it share
/// one value (pool adjacent violators).
pub(crate) fn isotonic_fit(levels: &[LevelTally]) -> Vec<f64> {
    // Passed, runs, and how many levels are in the block.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for one in levels {
        let mut block = (f64::from(one.passed), f64::from(one.runs()), 1);
        while let Some(&(passed, runs, count)) = blocks.last()
            && passed * block.1 < block.0 * runs
        {
            blocks.pop();
            block = (passed + block.0, runs + block.1, count + block.2);
        }
        blocks.push(block);
    }
    let chance = |(passed, runs, count): (f64, f64, usize)| {
        std::iter::repeat_n(if runs > 0.0 { passed / runs } else { 0.5 }, count)
    };
    blocks.into_iter().flat_map(chance).collect()
}

/// Returns where the fit falls through one half, between two levels on a logarithmic scale. If it
/// equals one half for some levels, the result is in the middle of those. `None` if it stays on one
/// side.
pub(crate) fn half_crossing(levels: &[LevelTally], fit: &[f64]) -> Option<f64> {
    let above = fit.iter().rposition(|&chance| chance > 0.5)?;
    let below = fit.iter().position(|&chance| chance < 0.5)?;
    let at = |index: usize| levels[index].level.ln();
    if below > above + 1 {
        return Some(f64::midpoint(at(above + 1), at(below - 1)).exp());
    }
    let share = (fit[above] - 0.5) / (fit[above] - fit[below]);
    Some((at(above) + share * (at(below) - at(above))).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seen: &[(f64, u32, u32)], fit: &[f64], knee: Option<f64>) {
        let levels: Vec<_> =
            seen.iter().map(|&(level, passed, failed)| LevelTally { level, passed, failed }).collect();
        let found = isotonic_fit(&levels);
        let same = found.iter().zip(fit).all(|(a, b)| (a - b).abs() < 1e-9) && found.len() == fit.len();
        assert!(same, "{seen:?}: {found:?}");
        let at = half_crossing(&levels, &found);
        let same = match (at, knee) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-6 * b,
            (a, b) => a.is_none() && b.is_none(),
        };
        assert!(same, "{seen:?}: {at:?}");
    }

    #[test]
    fn a_step_stays_a_step() {
        check(&[(100.0, 3, 0), (121.0, 0, 3)], &[1.0, 0.0], Some(110.0));
    }

    #[test]
    fn what_rises_is_pooled() {
        check(
            &[(10.0, 3, 0), (20.0, 1, 2), (30.0, 2, 1), (40.0, 0, 3)],
            &[1.0, 0.5, 0.5, 0.0],
            Some(600_f64.sqrt()),
        );
        check(&[(10.0, 0, 3), (20.0, 3, 0)], &[0.5, 0.5], None);
    }

    #[test]
    fn one_side_has_no_knee() {
        check(&[(10.0, 3, 0), (20.0, 3, 0)], &[1.0, 1.0], None);
        check(&[(10.0, 0, 3), (20.0, 0, 3)], &[0.0, 0.0], None);
        check(&[], &[], None);
    }
}
