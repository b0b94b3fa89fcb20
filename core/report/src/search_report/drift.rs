//! [`knee_drift`]: signs that the target changed while it was searched.

use wavetank_record::{SearchPointDoc, SearchRunDoc};
use wavetank_units::{Sentence, sentence};

use super::level_text;

/// Number of runs without a response that show that the target stopped.
const SILENT_MIN: usize = 3;
/// Runs that a level needs before its result counts.
const RUNS_MIN: u32 = 3;
/// Levels this far apart are not two sides of one knee.
const APART: f64 = 0.95;

/// Returns notes on contradictions to the assumption of every search: a target that sustains a load
/// sustains a lower one at any time. Empty if everything is consistent. `of` is what is varied;
/// `runs` are in the order they were made.
pub fn knee_drift(of: &str, runs: &[SearchRunDoc], curve: &[SearchPointDoc]) -> Vec<Sentence> {
    stopped(of, runs).or_else(|| turned(of, curve)).into_iter().collect()
}

/// Whether there is no response any more at loads that passed before.
fn stopped(of: &str, runs: &[SearchRunDoc]) -> Option<Sentence> {
    let is_silent = |run: &&SearchRunDoc| run.result != "pass" && run.requests.done == 0;
    let silent = runs.iter().rev().take_while(is_silent).count();
    let (before, silent) = runs.split_at(runs.len() - silent);
    let held = before.iter().filter(|run| run.result == "pass").map(|run| run.level);
    let held = held.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let lowest = silent.iter().map(|run| run.level).min_by(|a, b| a.0.total_cmp(&b.0))?;
    if silent.len() < SILENT_MIN || lowest.0 > held.0 {
        return None;
    }
    Some(sentence!(
        "every request failed from run {} on, even at {}, although {} passed before: the target stopped \
         during the search, so the answer does not show its capacity",
        before.len() + 1,
        level_text(of, lowest),
        level_text(of, held)
    ))
}

/// Whether a load that never passed is well below one that always did, so that there is no answer.
pub fn knee_contradicts(curve: &[SearchPointDoc]) -> bool {
    opposites(curve).is_some_and(|(low, _)| low.passed == 0)
}

/// A load that seldom passes is well below one that always does.
fn turned(of: &str, curve: &[SearchPointDoc]) -> Option<Sentence> {
    let (low, high) = opposites(curve)?;
    Some(sentence!(
        "{} passed in {} of {} runs, but the lower {} in only {} of {}: the target changes with time, not \
         only with the load, so the answer is little more than a guess",
        level_text(of, high.level),
        high.passed,
        high.runs,
        level_text(of, low.level),
        low.passed,
        low.runs
    ))
}

/// The level that passed in the smallest share of its runs, a third at most, and a level above it
/// that always passed.
fn opposites(curve: &[SearchPointDoc]) -> Option<(&SearchPointDoc, &SearchPointDoc)> {
    let asked = |point: &&SearchPointDoc| point.runs >= RUNS_MIN;
    let high = curve.iter().rev().filter(asked).find(|point| point.passed == point.runs)?;
    let below = |point: &&SearchPointDoc| point.level.0 <= high.level.0 * APART;
    let low =
        curve.iter().filter(asked).filter(below).min_by_key(|point| point.passed * 1_000 / point.runs)?;
    (low.passed * 3 <= low.runs).then_some((low, high))
}
