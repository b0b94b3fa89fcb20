//! Comparisons of measurements of a network.

use wavetank_compare::{CompareContext, CompareOptions, compare_doc, compare_networks};
use wavetank_record::{CompareDoc, ComparedRunDoc, NetDoc, SideDoc};
use wavetank_store::{NetFolder, RunsDir};
use wavetank_units::{Code, Sentence, UserError, phrase};

use crate::cli::CompareSettings;

/// Reads both sides if all they name are measurements of a network; `None` if none is.
///
/// # Errors
/// Runs and measurements of a network together, or a measurement that cannot be read.
pub(crate) fn load_networks(
    runs: &RunsDir,
    sides: [&[String]; 2],
) -> Result<Option<[Vec<NetDoc>; 2]>, UserError> {
    let mut others = 0;
    let mut read = |side: &[String]| -> Result<Vec<NetDoc>, UserError> {
        let mut docs = Vec::new();
        for word in side {
            // What is not found is reported by the comparison of runs, which also selects by name.
            match runs.find(word).ok().and_then(|found| NetFolder::open(&found)) {
                Some(folder) => docs.push(folder.read()?),
                None => others += 1,
            }
        }
        Ok(docs)
    };
    let [a, b] = [read(sides[0])?, read(sides[1])?];
    match (a.len() + b.len(), others) {
        (0, _) => Ok(None),
        (_, 0) => Ok(Some([a, b])),
        _ => Err(UserError::usage(
            Code::NetAndRuns,
            "runs cannot be compared with measurements of a network",
            "name measurements of `wavetank net` on both sides",
        )),
    }
}

/// Compares the measurements `b` with `a`.
///
/// # Errors
/// A measurement named twice, or a value that they do not have.
pub(crate) fn compare_nets(
    [a, b]: [&[NetDoc]; 2],
    wishes: &CompareSettings,
) -> Result<CompareDoc, UserError> {
    let all: Vec<&NetDoc> = a.iter().chain(b).collect();
    let twice = all.iter().enumerate().find(|(at, doc)| all[..*at].iter().any(|other| other.id == doc.id));
    if let Some((_, doc)) = twice {
        let message = format!("`{}` is named twice: it does not differ from itself", doc.id);
        return Err(UserError::usage(Code::SameRun, message, "name each measurement once"));
    }
    let options =
        CompareOptions { metrics: wishes.metrics.clone(), seed: wishes.seed, ..CompareOptions::default() };
    let rows = compare_networks(a, b, &options);
    if let Some(missing) = options.metrics.iter().find(|name| rows.iter().all(|row| row.name != **name)) {
        let known: Vec<&str> = rows.iter().map(|row| row.name.as_str()).take(20).collect();
        let message = format!("--metric: these measurements have no `{missing}`");
        return Err(UserError::usage(
            Code::MetricUnknown,
            message,
            format!("use one of: {}", known.join(" ")),
        ));
    }
    if rows.is_empty() {
        let message = "the measurements have no pair of hosts in common";
        return Err(UserError::usage(Code::NetAndRuns, message, "compare measurements of the same hosts"));
    }
    let context = CompareContext {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        seed: wishes.seed,
        max_regression: wishes.max_regression,
        sides: [side(a), side(b)],
        warnings: warnings(&all),
        notes: Vec::new(),
        next: Vec::new(),
    };
    Ok(compare_doc(&rows, context))
}

/// What could make the comparison unfair.
fn warnings(all: &[&NetDoc]) -> Vec<Sentence> {
    let Some(first) = all.first() else { return Vec::new() };
    let mut warnings = Vec::new();
    if all.iter().any(|doc| doc.settings != first.settings) {
        warnings.push(phrase!("the measurements differ in tests, streams, durations or rates"));
    }
    if all.iter().any(|doc| doc.version != first.version) {
        warnings.push(phrase!("they were made by different versions of wavetank"));
    }
    warnings
}

fn side(docs: &[NetDoc]) -> SideDoc {
    let run = |doc: &NetDoc| ComparedRunDoc {
        id: doc.id.clone(),
        name: doc.name.clone(),
        started_at: doc.started_at.clone(),
        target: format!("{} pairs", doc.pairs.len()),
        load: doc.settings.tests.join(","),
        verdict: "pass".to_owned(),
        duration_s: doc.took_s,
        version: doc.version.clone(),
    };
    SideDoc { runs: docs.iter().map(run).collect() }
}
