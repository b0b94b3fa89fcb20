//! [`knee_curve`]: latency against load, from a search's runs.

use wavetank_record::{Number, SearchPointDoc, SearchRunDoc, Spread};

/// Returns every level that was tried, lowest first. `chances` are the fitted ones: level and
/// probability to pass.
pub fn knee_curve(runs: &[SearchRunDoc], chances: &[(f64, f64)]) -> Vec<SearchPointDoc> {
    let mut levels: Vec<f64> = runs.iter().map(|run| run.level.0).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup_by(|a, b| a.total_cmp(b).is_eq());
    levels.into_iter().map(|level| point(level, runs, chances)).collect()
}

fn point(level: f64, runs: &[SearchRunDoc], chances: &[(f64, f64)]) -> SearchPointDoc {
    let own: Vec<_> = runs.iter().filter(|run| run.level.0.total_cmp(&level).is_eq()).collect();
    let count = |result: &str| own.iter().filter(|run| run.result == result).count() as u32;
    // Dropped requests never ended, so a percentile that they reach into is above all measured
    // times.
    let percentile = |name: &str| {
        let value = |spread: &Spread| {
            if spread.is_unknown(name) { Some(f64::INFINITY) } else { Some(spread.percentile(name)?.0) }
        };
        // A run without any response is no better than one with some. It sorts above all others,
        // and is not a value itself.
        let of_run =
            |run: &&SearchRunDoc| run.response_us.spread.as_ref().and_then(value).unwrap_or(f64::NAN);
        middle(own.iter().map(of_run).collect())
    };
    let known = |name: &str| percentile(name).filter(|value| value.is_finite()).map(Number);
    let dropped = |name: &&str| percentile(name).is_some_and(f64::is_infinite);
    let chance =
        chances.iter().find(|(at, _)| at.total_cmp(&level).is_eq()).map(|&(_, chance)| Number(chance));
    SearchPointDoc {
        level: Number(level),
        runs: count("pass") + count("fail"),
        passed: count("pass"),
        generator: count("generator"),
        chance,
        done_per_s: Number(middle(own.iter().map(|run| run.rate.done_per_s.0).collect()).unwrap_or(0.0)),
        p50_us: known("p50"),
        p95_us: known("p95"),
        p99_us: known("p99"),
        p99_9_us: known("p99_9"),
        unknown: ["p50", "p95", "p99", "p99_9"]
            .iter()
            .filter(|name| dropped(name))
            .map(|&name| name.to_owned())
            .collect(),
    }
}

/// The median; for an even number of values the lower middle one, which was measured.
fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().checked_sub(1)? / 2).copied()
}
