//! [`knee_queued`]: how far the answer lies below levels that held.

use wavetank_plan::quantity::show_share;
use wavetank_record::SearchDoc;

use super::level_text;
use super::observed_levels::held_above_knee;

/// Less than this nobody would see in the numbers.
const TOLD_FROM: f64 = 0.002;

/// Notes where the interval begins below the level that it comes from, and where the knee lies below one that held: what was
/// still under way at the end of their runs may have been a queue.
pub fn knee_queued(doc: &SearchDoc) -> Vec<String> {
    low_queued(doc).into_iter().chain(below_held(doc)).collect()
}

fn low_queued(doc: &SearchDoc) -> Option<String> {
    // Of what changes with time nothing is sure.
    if doc.answer.end == "unsteady" {
        return None;
    }
    let (low, level) = (doc.answer.low?, doc.answer.low_level?);
    let left = 1.0 - low.0 / level.0;
    (left >= TOLD_FROM).then(|| {
        format!(
            "{} held, but {} of it may have been queueing when a run ended: the interval begins at {}, which is sure to have been done \
             in time; longer runs (-d) tell it more exactly",
            level_text(&doc.of, level),
            show_share(left),
            level_text(&doc.of, low)
        )
    })
}

fn below_held(doc: &SearchDoc) -> Option<String> {
    let (knee, held) = (doc.answer.knee?, held_above_knee(doc)?);
    Some(format!(
        "{} held in {} of {} runs, but part of it may have been queueing when they ended: the knee is put below it, at {}; longer \
         runs (-d) tell it more exactly",
        level_text(&doc.of, held.level),
        held.passed,
        held.runs,
        level_text(&doc.of, knee)
    ))
}

#[cfg(test)]
mod tests {
    use wavetank_record::{Number, SearchAnswerDoc, SearchPointDoc};

    use super::*;

    #[track_caller]
    fn check(low: Option<f64>, level: Option<f64>, told: Option<&str>) {
        let answer = SearchAnswerDoc {
            end: "found".to_owned(),
            low: low.map(Number),
            low_level: level.map(Number),
            ..SearchAnswerDoc::default()
        };
        let mut doc = SearchDoc { of: "rate".to_owned(), answer, ..SearchDoc::default() };
        // One that was stopped has an interval, too.
        for end in ["found", "time"] {
            end.clone_into(&mut doc.answer.end);
            let notes = knee_queued(&doc).concat();
            assert_eq!(notes.is_empty(), told.is_none(), "{end}: {notes}");
            assert!(notes.contains(told.unwrap_or_default()), "{end}, {low:?} of {level:?}: {notes}");
        }
        "unsteady".clone_into(&mut doc.answer.end);
        assert_eq!(knee_queued(&doc), Vec::<String>::new());
    }

    #[test]
    fn a_queue_that_matters_is_told() {
        check(Some(490.0), Some(500.0), Some("500/s held, but 2 % of it"));
        check(Some(499.9), Some(500.0), None);
        check(Some(500.0), Some(500.0), None);
        check(Some(500.0), None, None);
        check(None, None, None);
    }

    #[test]
    fn a_knee_below_what_held_is_explained() {
        let check = |knee: Option<f64>, passed: u32, chance: Option<f64>, told: bool| {
            let point = SearchPointDoc {
                level: Number(504.0),
                runs: 3,
                passed,
                chance: chance.map(Number),
                ..SearchPointDoc::default()
            };
            let end = "found".to_owned();
            let answer = SearchAnswerDoc { end, knee: knee.map(Number), ..SearchAnswerDoc::default() };
            let mut doc =
                SearchDoc { of: "rate".to_owned(), answer, curve: vec![point], ..SearchDoc::default() };
            let notes = knee_queued(&doc).concat();
            assert_eq!(notes.contains("504/s held in 3 of 3 runs, but part"), told, "{notes}");
            assert_eq!(notes.contains("below it, at 501.9/s; longer runs"), told, "{notes}");
            // A bound is no knee.
            for end in ["generator", "above", "time", "unsteady"] {
                end.clone_into(&mut doc.answer.end);
                assert_eq!(knee_queued(&doc), Vec::<String>::new(), "{end}");
            }
        };
        check(Some(501.9), 3, Some(1.0), true);
        check(Some(505.0), 3, Some(1.0), false);
        check(Some(501.9), 1, Some(0.6), false);
        // On the way up or between, where one run decides.
        check(Some(501.9), 3, None, false);
        check(None, 3, Some(1.0), false);
    }
}
