//! Checks the error rate of the comparison: 2,000 pairs of equal sides, for each of several kinds
//! of chance, and pairs that differ.
//!
//! A simulated run is 30 columns of 60 requests. Its speed differs from other runs' (between-run
//! variance), wanders from second to second (autocorrelation), and its times have a long tail.

use crate::simulated;

use simulated::{Chance, MEASURES, World, side};
use wavetank_compare::{Estimate, Ratio, holm};
use wavetank_pace::Philox;

/// Pairs of each kind.
const PAIRS: u64 = 2_000;
/// The share of false alarms that the issue allows at the 95 % level.
const ALARMS_MAX: f64 = 0.065;
const SEED: u64 = 20_261_122;
/// Fewer than the product draws, which adds to what is off and never takes away from it.
const DRAWS: u64 = 100;

/// Chances of each value, as they are and corrected.
fn judged(world: &World, (runs_a, runs_b): (u64, u64), pair: u64, shift: f64) -> [Vec<f64>; 2] {
    let a = side(world, runs_a, (SEED, pair), 1.0);
    let b = side(world, runs_b, (SEED, pair + (1 << 40)), shift);
    let mut random = Philox::keyed(SEED, 9, pair);
    let mut p = Vec::new();
    for (measures, strips) in MEASURES {
        let mut estimates = |side: &simulated::Side| {
            Estimate::bootstrap(measures, &strips(side).collect::<Vec<_>>(), DRAWS, &mut random)
        };
        for (a, b) in estimates(&a).iter().zip(&estimates(&b)) {
            let ratio = Ratio::between(&a.expect("all was counted"), &b.expect("all was counted"));
            p.push(ratio.p_value().expect("a side has several runs"));
        }
    }
    let adjusted = holm(&p);
    [p, adjusted]
}

/// Returns the shares of pairs in which each value alone, and any value after correction, differs.
fn alarms(world: &World, runs: (u64, u64), pairs: u64, shift: f64) -> (Vec<f64>, f64) {
    let mut single = Vec::new();
    let mut family = 0.0;
    for pair in 0..pairs {
        let [p, adjusted] = judged(world, runs, pair, shift);
        single.resize(p.len(), 0.0);
        for (count, p) in single.iter_mut().zip(&p) {
            *count += f64::from(u8::from(*p < 0.05)) / pairs as f64;
        }
        family += f64::from(u8::from(adjusted.iter().any(|p| *p < 0.05))) / pairs as f64;
    }
    (single, family)
}

/// Returns what was seen, to be printed.
fn check(chance: Chance, runs: (u64, u64)) -> String {
    let world = World::new(chance);
    let pairs = if std::env::var_os("WAVETANK_LONG").is_some() { PAIRS } else { PAIRS / 10 };
    let (single, family) = alarms(&world, runs, pairs, 1.0);
    assert!(single.iter().all(|share| *share <= ALARMS_MAX), "seed {SEED}, {chance:?} {runs:?}: {single:?}");
    assert!(family <= ALARMS_MAX, "{chance:?} {runs:?}: {family}");
    format!("{chance:?}, {runs:?} runs, seed {SEED}: single {single:.4?}, family {family:.4}")
}

#[test]
fn three_runs_a_side_raise_few_false_alarms() {
    println!("{}", check(Chance::Normal, (3, 3)));
}

#[test]
fn five_runs_a_side_raise_few_false_alarms() {
    println!("{}", check(Chance::Normal, (5, 5)));
}

#[test]
fn heavy_tails_raise_few_false_alarms() {
    println!("{}", check(Chance::Heavy, (3, 3)));
    println!("{}", check(Chance::Heavy, (5, 5)));
}

#[test]
fn runs_that_hardly_differ_raise_few_false_alarms() {
    println!("{}", check(Chance::Within, (3, 3)));
}

#[test]
fn a_single_run_against_five_raises_few_false_alarms() {
    println!("{}", check(Chance::Normal, (5, 1)));
}

/// A shift of 5 % where runs differ by half a percent: as the planted one on a quiet machine.
#[test]
fn a_planted_difference_is_found() {
    let (single, family) = alarms(&World::new(Chance::Quiet), (5, 5), 100, 1.05);
    println!("seed {SEED}: single {single:.3?}, family {family:.3}");
    assert!(family >= 0.95, "{family}");
    // The rate of this world does not depend on its times.
    assert!(single[0] <= 0.1, "{single:?}");
}
