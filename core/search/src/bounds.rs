//! [`bounds`]: the levels between which the knee is, with 95 % confidence.
//!
//! It assumes that the chance to pass never rises with the load, and that runs are independent. If
//! the knee were not above a level, each run of that level and of all above it would pass with a
//! chance of at most one half. So the passes of those runs are counted level by level upwards.
//! Where more of them passed than fair coins would once in 40 times, the knee is above. The other
//! end is found the same way, downwards. The number needed after each level is computed exactly, so
//! that all checks together stay within one in 40.

use crate::LevelTally;

/// Confidence with which the knee is between the bounds.
pub const CONFIDENCE: f64 = 0.95;

/// The chance of error at each end.
const WRONG_MAX: f64 = (1.0 - CONFIDENCE) / 2.0;

/// The levels between which the knee is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    /// The highest level that is proven to be below the knee.
    pub low: Option<f64>,
    /// The lowest level that is proven to be above it.
    pub high: Option<f64>,
}

/// The bounds that `levels`, lowest first, prove.
pub(crate) fn bounds(levels: &[LevelTally]) -> Bounds {
    let upwards = |from: usize| {
        let mut runs = levels[from..].iter().map(|one| (one.passed, one.runs()));
        more_than_coins(&mut runs)
    };
    let downwards = |from: usize| {
        let mut runs = levels[..=from].iter().rev().map(|one| (one.failed, one.runs()));
        more_than_coins(&mut runs)
    };
    Bounds {
        low: (0..levels.len()).take_while(|&at| upwards(at)).last().map(|at| levels[at].level),
        high: (0..levels.len()).rev().take_while(|&at| downwards(at)).last().map(|at| levels[at].level),
    }
}

/// Returns whether fair coins show this many heads, of this many tosses level by level, less often
/// than [`WRONG_MAX`].
fn more_than_coins(levels: &mut dyn Iterator<Item = (u32, u32)>) -> bool {
    // The chance of each number of heads so far, without what was rejected at an earlier level.
    let mut chances = vec![1.0];
    let mut spent = 0.0;
    let mut heads = 0;
    for (passed, runs) in levels {
        heads += passed as usize;
        for _ in 0..runs {
            chances = toss(&chances);
        }
        // From the top: as many outcomes as can still be paid for.
        let mut needed = chances.len();
        while needed > 0 && spent + chances[needed - 1] <= WRONG_MAX {
            needed -= 1;
            spent += chances[needed];
            chances[needed] = 0.0;
        }
        if heads >= needed {
            return true;
        }
    }
    false
}

/// One more toss of a fair coin.
fn toss(chances: &[f64]) -> Vec<f64> {
    let mut next = vec![0.0; chances.len() + 1];
    for (heads, chance) in chances.iter().enumerate() {
        next[heads] += chance / 2.0;
        next[heads + 1] += chance / 2.0;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seen: &[(u32, u32)], low: Option<usize>, high: Option<usize>) {
        let tallied =
            |(at, &(passed, failed)): (usize, &(u32, u32))| LevelTally { level: at as f64, passed, failed };
        let levels: Vec<_> = seen.iter().enumerate().map(tallied).collect();
        let found = bounds(&levels);
        assert_eq!(found.low.map(|level| level as usize), low, "low of {seen:?}");
        assert_eq!(found.high.map(|level| level as usize), high, "high of {seen:?}");
    }

    #[test]
    fn six_of_six_prove_and_three_of_three_do_not() {
        check(&[(3, 0), (3, 0), (3, 0), (0, 3), (0, 3)], Some(1), Some(4));
        check(&[(3, 0), (0, 3)], None, None);
        check(&[(6, 0), (0, 6)], Some(0), Some(1));
    }

    #[test]
    fn a_run_that_went_wrong_takes_more_of_the_others() {
        check(&[(3, 0), (3, 0), (2, 1), (3, 0), (0, 3), (0, 3)], Some(0), Some(5));
        check(&[(2, 1), (3, 0), (0, 3), (1, 2)], None, None);
    }

    #[test]
    fn the_knee_is_on_one_side() {
        check(&[(3, 0), (3, 0), (3, 0)], Some(1), None);
        check(&[(0, 3), (0, 3), (0, 3)], None, Some(1));
        check(&[], None, None);
    }

    /// With fair coins at every level, no level is proven to be below or above the knee. Each end
    /// is wrong in at most 2.5 % of all outcomes, enumerated for five levels of three runs.
    #[test]
    fn coins_prove_too_much_in_one_of_40() {
        let (mut low, mut high) = (0_u32, 0_u32);
        for outcome in 0..1_u32 << 15 {
            let level = |at: u32| {
                let passed = (outcome >> (3 * at) & 7).count_ones();
                LevelTally { level: f64::from(at), passed, failed: 3 - passed }
            };
            let found = bounds(&(0..5).map(level).collect::<Vec<_>>());
            low += u32::from(found.low.is_some());
            high += u32::from(found.high.is_some());
        }
        for wrong in [low, high] {
            let share = f64::from(wrong) / 32_768.0;
            assert!(share <= WRONG_MAX && share > WRONG_MAX / 2.0, "{share}");
        }
    }
}
