//! [`unheld`]: why runs of a level did not pass, or do not count.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_record::{Number, SearchDoc, SearchRunDoc};

use super::observed_levels::ObservedLevels;

/// Most reasons of one kind shown for a level.
const WHYS_MAX: usize = 3;

/// Why runs did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// A threshold failed.
    Failed,
    /// The generator was the limit.
    Spoiled,
    /// They ended without a result.
    Undecided,
}

/// Runs of one level with the same outcome.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FailedRuns<'d> {
    pub(super) level: Number,
    pub(super) fate: FailureKind,
    pub(super) runs: usize,
    /// Runs of the level that count.
    pub(super) counted: usize,
    /// Their reasons, each once and in order; only the first of very many.
    pub(super) whys: Vec<&'d str>,
    /// Number of reasons left out.
    pub(super) more: usize,
}

/// Returns the runs that did not pass or do not count, lowest level first. Levels from which on no
/// run passed are left out, because there is nothing to explain.
pub(super) fn unheld(doc: &SearchDoc) -> Vec<FailedRuns<'_>> {
    let none = ObservedLevels::from_search(doc).none.map_or(f64::INFINITY, |(level, _)| level.0);
    let fates = [
        (FailureKind::Failed, "fail"),
        (FailureKind::Spoiled, "generator"),
        (FailureKind::Undecided, "undecided"),
    ];
    let mut runs: BTreeMap<u64, Vec<&SearchRunDoc>> = BTreeMap::new();
    doc.runs.iter().for_each(|run| runs.entry(run.level.0.to_bits()).or_default().push(run));
    let of_level = |level: Number| {
        let own = runs.get(&level.0.to_bits()).map_or(&[][..], Vec::as_slice);
        let counted = own.iter().filter(|run| matches!(run.result.as_str(), "pass" | "fail")).count();
        let of_fate = |(fate, result): (FailureKind, &str)| {
            let runs: Vec<&SearchRunDoc> = own.iter().copied().filter(|run| run.result == result).collect();
            let mut known = BTreeSet::new();
            let said = runs.iter().map(|run| run.why.as_str()).filter(|why| !why.is_empty());
            let mut whys: Vec<&str> = said.filter(|why| known.insert(*why)).collect();
            let more = whys.len().saturating_sub(WHYS_MAX);
            whys.truncate(WHYS_MAX);
            let is_reported = !runs.is_empty() && (fate != FailureKind::Failed || level.0 < none);
            is_reported.then_some(FailedRuns { level, fate, runs: runs.len(), counted, whys, more })
        };
        fates.into_iter().filter_map(of_fate).collect::<Vec<_>>()
    };
    doc.curve.iter().flat_map(|point| of_level(point.level)).collect()
}
