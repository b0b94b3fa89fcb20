//! [`ObservedLevels`]: what the runs of a search showed by themselves, before anything is estimated from them.

use wavetank_record::{Number, SearchDoc, SearchPointDoc};

/// Levels that say the same in all their runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ObservedLevels {
    /// The highest level at which every run held, with most of them holding at each level below, and its runs: beyond a level
    /// that broke, few runs of another prove nothing.
    pub(super) all: Option<(Number, u32)>,
    /// The lowest level from which on no run held, and the runs there and above.
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

/// What a level is to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelRole {
    /// The interval begins there.
    Lower,
    /// The interval begins as much below it as may have queued.
    LowerQueued,
    /// [`ObservedLevels::all`].
    AllHeld,
    /// [`ObservedLevels::none`].
    NoneHeld,
    /// The interval ends there.
    Upper,
}

/// What the level of `point` is to the answer, in the order of loads, where `showed` is what the runs of `doc` showed.
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

/// The level of the run whose words are told as the limit.
pub(super) fn limit_level(doc: &SearchDoc) -> Option<Number> {
    let knee = doc.answer.knee.map_or(0.0, |knee| knee.0);
    let mut said = doc.runs.iter().filter(|run| !run.why.is_empty() && run.why == doc.answer.limit);
    // The last ones ended it, at whichever level.
    if doc.answer.end == "target" {
        return said.next_back().map(|run| run.level);
    }
    said.map(|run| run.level).filter(|level| level.0 >= knee).min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Whether the interval begins below the level that its lower end comes from.
pub(super) fn is_low_queued(doc: &SearchDoc) -> bool {
    doc.answer.low.zip(doc.answer.low_level).is_some_and(|(low, level)| low.0 < level.0)
}

/// The rate above the knee that mostly held, if there is one: part of what was asked for there may have queued. A fit alone
/// puts the knee above each of those. Of users and connections nothing queues, and what is no knee is no estimate of one.
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
