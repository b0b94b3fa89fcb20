//! [`knee_headline`]: a search's answer in one line.

use wavetank_record::{Number, SearchDoc, SearchPointDoc};
use wavetank_units::quantity::show_share;

use super::en::ENGLISH;
use super::format::{answered_runs, level_text};
use super::observed_levels::ObservedLevels;
use super::sentences::{AnswerStrings, BoundProof, Requirement, RunEvidence};
use super::zh::CHINESE;

/// The first line of every view: the answer. It depends on all of `doc` except its headline.
pub fn knee_headline(doc: &SearchDoc) -> String {
    whole(doc, &ENGLISH)
}

/// The same in Chinese, rebuilt from its values.
pub(super) fn chinese_headline(doc: &SearchDoc) -> String {
    whole(doc, &CHINESE)
}

/// The answer, and before it that it is only an estimate.
fn whole(doc: &SearchDoc, say: &AnswerStrings) -> String {
    let quick = if doc.setup.quick { say.quick } else { "" };
    format!("{quick}{}", headline(doc, say))
}

fn headline(doc: &SearchDoc, say: &AnswerStrings) -> String {
    let answer = &doc.answer;
    let level = |value: Number| (say.level)(&level_text(&doc.of, value));
    let asked = Requirement { conditions: doc.thresholds.clone() };
    match (answer.end.as_str(), answer.knee) {
        ("found", Some(knee)) => (say.found)(&asked, &level(knee), &interval(doc, say), &seen(doc, say)),
        ("above", Some(knee)) => (say.above)(&asked, &level(knee)),
        ("below", _) => (say.below)(&asked, &level(doc.setup.from)),
        ("generator", Some(knee)) => {
            (say.generator)(&asked, &level(knee), &level(answer.generator_at.unwrap_or(doc.setup.to)))
        }
        ("generator", None) => (say.generator_at_once)(&level(answer.generator_at.unwrap_or(doc.setup.from))),
        ("target", _) => (say.silent)(answered_runs(doc), &so_far(doc, say)),
        (end, _) => (say.stopped)(end, &so_far(doc, say)),
    }
}

/// The interval's ends, and which of them is not proven.
fn interval(doc: &SearchDoc, say: &AnswerStrings) -> String {
    let answer = &doc.answer;
    let (Some(low), Some(high)) = (answer.low, answer.high) else { return say.open_interval.to_owned() };
    // The unit is shown with the knee only.
    let bare = |value: Number| {
        let text = level_text(&doc.of, value);
        text.split(['/', ' ']).next().unwrap_or_default().to_owned()
    };
    let proven = BoundProof { low: answer.low_proven, high: answer.high_proven };
    (say.interval)([&bare(low), &bare(high)], &show_share(answer.confidence.0), proven)
}

/// Returns the results of the runs. The knee and its interval are estimates, and there need not be
/// runs at any of their levels.
fn seen(doc: &SearchDoc, say: &AnswerStrings) -> RunEvidence {
    let reported = |(level, runs): (Number, u32)| ((say.level)(&level_text(&doc.of, level)), runs);
    let ObservedLevels { all, none } = ObservedLevels::from_search(doc);
    let count = |of: fn(&SearchPointDoc) -> u32| doc.curve.iter().map(of).fold(0, u32::saturating_add);
    RunEvidence {
        all: all.map(reported),
        none: none.map(reported),
        runs: (count(|point| point.passed), count(|point| point.runs)),
    }
}

fn so_far(doc: &SearchDoc, say: &AnswerStrings) -> String {
    let level = |value: Number| (say.level)(&level_text(&doc.of, value));
    match (doc.answer.low, doc.answer.high) {
        (Some(low), Some(high)) => {
            let proven = doc.answer.low_proven && doc.answer.high_proven;
            let doubt = if proven { "" } else { say.not_proven };
            format!("{}{doubt}", (say.between)(&level(low), &level(high)))
        }
        (Some(low), None) => (say.up_to)(&level(low)),
        (None, Some(high)) => (say.not_at)(&level(high)),
        (None, None) => match doc.curve.iter().find(|point| point.runs > 0) {
            Some(point) => (say.held)(&level(point.level), point.passed, point.runs),
            None => say.nothing.to_owned(),
        },
    }
}
