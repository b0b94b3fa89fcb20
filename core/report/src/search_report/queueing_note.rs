//! [`knee_queued`]: distance of the answer below levels that passed.

use wavetank_record::SearchDoc;
use wavetank_units::quantity::show_share;
use wavetank_units::{Sentence, sentence};

use super::level_text;
use super::observed_levels::held_above_knee;

/// Smaller shares would not be visible in the numbers.
const SHOWN_FROM: f64 = 0.002;

/// Returns a note if the interval starts below the level that it comes from, and one if the knee is
/// below a level that passed. Requests still in flight at the end of such runs may have been a
/// queue.
pub fn knee_queued(doc: &SearchDoc) -> Vec<Sentence> {
    low_queued(doc).into_iter().chain(below_held(doc)).collect()
}

fn low_queued(doc: &SearchDoc) -> Option<Sentence> {
    // A target that changes with time has no certain level.
    if doc.answer.end == "unsteady" {
        return None;
    }
    let (low, level) = (doc.answer.low?, doc.answer.low_level?);
    let left = 1.0 - low.0 / level.0;
    (left >= SHOWN_FROM).then(|| {
        sentence!(
            "{} passed, but {} of it may have been queued at the end of a run: the interval starts at {}, which \
             was certainly done in time; longer runs (-d) narrow this down",
            level_text(&doc.of, level),
            show_share(left),
            level_text(&doc.of, low)
        )
    })
}

fn below_held(doc: &SearchDoc) -> Option<Sentence> {
    let (knee, held) = (doc.answer.knee?, held_above_knee(doc)?);
    Some(sentence!(
        "{} passed in {} of {} runs, but part of it may have been queued at their end: the knee is placed \
         below it, at {}; longer runs (-d) narrow this down",
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
    fn check(low: Option<f64>, level: Option<f64>, reported: Option<&str>) {
        let answer = SearchAnswerDoc {
            end: "found".to_owned(),
            low: low.map(Number),
            low_level: level.map(Number),
            ..SearchAnswerDoc::default()
        };
        let mut doc = SearchDoc { of: "rate".to_owned(), answer, ..SearchDoc::default() };
        // A search that was stopped has an interval, too.
        for end in ["found", "time"] {
            end.clone_into(&mut doc.answer.end);
            let notes = Sentence::join(knee_queued(&doc), "");
            assert_eq!(notes.is_empty(), reported.is_none(), "{end}: {notes}");
            assert!(notes.contains(reported.unwrap_or_default()), "{end}, {low:?} of {level:?}: {notes}");
        }
        "unsteady".clone_into(&mut doc.answer.end);
        assert_eq!(knee_queued(&doc), Vec::<Sentence>::new());
    }

    #[test]
    fn a_queue_that_matters_is_reported() {
        check(Some(490.0), Some(500.0), Some("500/s passed, but 2 % of it"));
        check(Some(499.9), Some(500.0), None);
        check(Some(500.0), Some(500.0), None);
        check(Some(500.0), None, None);
        check(None, None, None);
    }

    #[test]
    fn a_knee_below_what_held_is_explained() {
        let check = |knee: Option<f64>, passed: u32, chance: Option<f64>, reported: bool| {
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
            let notes = Sentence::join(knee_queued(&doc), "");
            assert_eq!(notes.contains("504/s passed in 3 of 3 runs, but part"), reported, "{notes}");
            assert_eq!(notes.contains("below it, at 501.9/s; longer runs"), reported, "{notes}");
            // A bound is not a knee.
            for end in ["generator", "above", "time", "unsteady"] {
                end.clone_into(&mut doc.answer.end);
                assert_eq!(knee_queued(&doc), Vec::<Sentence>::new(), "{end}");
            }
        };
        check(Some(501.9), 3, Some(1.0), true);
        check(Some(505.0), 3, Some(1.0), false);
        check(Some(501.9), 1, Some(0.6), false);
        // On the way up or between levels, a single run decides.
        check(Some(501.9), 3, None, false);
        check(None, 3, Some(1.0), false);
    }
}
