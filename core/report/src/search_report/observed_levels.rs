//! [`ObservedLevels`]: the results of the runs of a search, before anything is estimated from them.

use wavetank_record::{Number, SearchDoc, SearchPointDoc};

/// Levels with the same result in all of their runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ObservedLevels {
    /// The highest level at which every run passed, and its runs. Most runs must have passed at
    /// each level below: above a level that failed, a few runs prove nothing.
    pub(super) all: Option<(Number, u32)>,
    /// The lowest level from which on no run passed, and the runs there and above.
    pub(super) none: Option<(Number, u32)>,
}

impl ObservedLevels {
    pub(super) fn from_search(doc: &SearchDoc) -> Self {
        let counted = || doc.curve.iter().filter(|point| point.runs > 0);
        let mostly = counted().take_while(|point| point.passed > point.runs / 2);
        let all = mostly.filter(|point| point.passed == point.runs).last();
        let failed: Vec<_> = counted().rev().take_while(|point| point.passed == 0).collect();
        Self {
            all: all.map(|point| (point.level, point.runs)),
            none: failed.last().map(|lowest| {
                (lowest.level, failed.iter().fold(0, |sum: u32, point| sum.saturating_add(point.runs)))
            }),
        }
    }
}

/// The role of a level in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelRole {
    /// The interval starts there.
    Lower,
    /// The interval starts below it, by the share that may have queued.
    LowerQueued,
    /// [`ObservedLevels::all`].
    AllHeld,
    /// [`ObservedLevels::none`].
    NoneHeld,
    /// The interval ends there.
    Upper,
}

/// Returns the roles of the level of `point` in the answer, in the order of loads. `showed` has the
/// results of the runs of `doc`.
pub(super) fn places(doc: &SearchDoc, showed: &ObservedLevels, point: &SearchPointDoc) -> Vec<LevelRole> {
    let answer = &doc.answer;
    let at = |level: Option<Number>| level.is_some_and(|level| level.0.total_cmp(&point.level.0).is_eq());
    // A bound has no interval.
    let is_interval = answer.low.is_some() && answer.high.is_some();
    let lower = if is_low_queued(doc) { LevelRole::LowerQueued } else { LevelRole::Lower };
    let all = [
        (is_interval && at(answer.low_level.or(answer.low)), lower),
        (at(showed.all.map(|(level, _)| level)), LevelRole::AllHeld),
        (at(showed.none.map(|(level, _)| level)), LevelRole::NoneHeld),
        (is_interval && at(answer.high), LevelRole::Upper),
    ];
    all.into_iter().filter(|(is_there, _)| *is_there).map(|(_, place)| place).collect()
}

/// Returns the level of the run that has the text of the limit.
pub(super) fn limit_level(doc: &SearchDoc) -> Option<Number> {
    let knee = doc.answer.knee.map_or(0.0, |knee| knee.0);
    let mut said = doc.runs.iter().filter(|run| !run.why.is_empty() && run.why == doc.answer.limit);
    // The last runs ended the search, at whichever level.
    if doc.answer.end == "target" {
        return said.next_back().map(|run| run.level);
    }
    said.map(|run| run.level).filter(|level| level.0 >= knee).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Whether the interval starts below the level that its lower end comes from.
pub(super) fn is_low_queued(doc: &SearchDoc) -> bool {
    doc.answer.low.zip(doc.answer.low_level).is_some_and(|(low, level)| low.0 < level.0)
}

/// Returns the highest rate above the knee that mostly passed, if there is one: part of its
/// requests may have queued. Without queueing, a fit puts the knee above each such rate. Users and
/// connections do not queue, and other ends of a search have no estimate of a knee.
pub(super) fn held_above_knee(doc: &SearchDoc) -> Option<&SearchPointDoc> {
    if doc.answer.end != "found" || doc.of != "rate" {
        return None;
    }
    let held = |point: &&SearchPointDoc| {
        point.chance.is_some_and(|chance| chance.0 > 0.5) && point.passed > point.runs / 2
    };
    let highest = doc.curve.iter().rev().find(held)?;
    doc.answer.knee.filter(|knee| knee.0 < highest.level.0).map(|_| highest)
}
