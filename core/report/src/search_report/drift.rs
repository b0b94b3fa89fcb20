//! [`knee_drift`]: signs that the target changed while it was searched.

use wavetank_record::{SearchPointDoc, SearchRunDoc};

use super::level_text;

/// Runs in which nothing is answered that say that the target stopped.
const SILENT_MIN: usize = 3;
/// Runs of a level that say how it stands.
const RUNS_MIN: u32 = 3;
/// Levels this far apart are not two sides of one knee.
const APART: f64 = 0.95;

/// What contradicts the one thing that every search takes for true: that a target which holds a load holds a lower one,
/// too, whenever it is asked. A note each, none where all fits. `of`: what is varied; `runs`: in the order they were made.
pub fn knee_drift(of: &str, runs: &[SearchRunDoc], curve: &[SearchPointDoc]) -> Vec<String> {
    stopped(of, runs).or_else(|| turned(of, curve)).into_iter().collect()
}

/// Nothing is answered any more at loads that held before.
fn stopped(of: &str, runs: &[SearchRunDoc]) -> Option<String> {
    let is_silent = |run: &&SearchRunDoc| run.result != "pass" && run.requests.done == 0;
    let silent = runs.iter().rev().take_while(is_silent).count();
    let (before, silent) = runs.split_at(runs.len() - silent);
    let held = before.iter().filter(|run| run.result == "pass").map(|run| run.level);
    let held = held.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let lowest = silent.iter().map(|run| run.level).min_by(|a, b| a.0.total_cmp(&b.0))?;
    if silent.len() < SILENT_MIN || lowest.0 > held.0 {
        return None;
    }
    Some(format!(
        "from run {} on every request failed, even at {}, though {} held before: the target stopped during the search, and \
         the answer does not tell what it can do",
        before.len() + 1,
        level_text(of, lowest),
        level_text(of, held)
    ))
}

/// Whether a load that never held lies well below one that always did, so that there is no answer.
pub fn knee_contradicts(curve: &[SearchPointDoc]) -> bool {
    opposites(curve).is_some_and(|(low, _)| low.passed == 0)
}

/// A load that seldom holds lies well below one that always does.
fn turned(of: &str, curve: &[SearchPointDoc]) -> Option<String> {
    let (low, high) = opposites(curve)?;
    Some(format!(
        "{} held in {} of {} runs, but {}, which is less, in {} of {}: the target changes with time, not only with the load, \
         and the answer is little more than a guess",
        level_text(of, high.level),
        high.passed,
        high.runs,
        level_text(of, low.level),
        low.passed,
        low.runs
    ))
}

/// A level that seldom held, the one that did so least, and one above it that always did.
fn opposites(curve: &[SearchPointDoc]) -> Option<(&SearchPointDoc, &SearchPointDoc)> {
    let asked = |point: &&SearchPointDoc| point.runs >= RUNS_MIN;
    let high = curve.iter().rev().filter(asked).find(|point| point.passed == point.runs)?;
    let below = |point: &&SearchPointDoc| point.level.0 <= high.level.0 * APART;
    let low =
        curve.iter().filter(asked).filter(below).min_by_key(|point| point.passed * 1_000 / point.runs)?;
    (low.passed * 3 <= low.runs).then_some((low, high))
}
