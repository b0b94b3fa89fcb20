//! [`unheld`]: why runs of a level did not hold, or do not count.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_record::{Number, SearchDoc, SearchRunDoc};

use super::observed_levels::ObservedLevels;

/// Reasons of one kind that are told of a level.
const WHYS_MAX: usize = 3;

/// What became of runs that did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// They did not hold.
    Failed,
    /// The generator was the limit.
    Spoiled,
    /// They ended without a result.
    Undecided,
}

/// Runs of one level and one fate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FailedRuns<'d> {
    pub(super) level: Number,
    pub(super) fate: FailureKind,
    pub(super) runs: usize,
    /// Runs of the level that count.
    pub(super) counted: usize,
    /// What they said, each once, in their order; the first ones of very many.
    pub(super) whys: Vec<&'d str>,
    /// Of what they said, how much is left out.
    pub(super) more: usize,
}

/// Runs that did not hold or do not count, lowest level first. Those of levels from which on none held are left out: there is
/// nothing to explain.
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
            let is_told = !runs.is_empty() && (fate != FailureKind::Failed || level.0 < none);
            is_told.then_some(FailedRuns { level, fate, runs: runs.len(), counted, whys, more })
        };
        fates.into_iter().filter_map(of_fate).collect::<Vec<_>>()
    };
    doc.curve.iter().flat_map(|point| of_level(point.level)).collect()
}
