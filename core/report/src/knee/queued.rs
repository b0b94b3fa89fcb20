//! [`knee_queued`]: how far the answer lies below a level that held.

use wavetank_plan::quantity::show_share;
use wavetank_record::SearchDoc;

use super::level_text;

/// Less than this nobody would see in the numbers.
const TOLD_FROM: f64 = 0.002;

/// A note where the interval begins below the level that it comes from: what was still under way at the end of its runs may
/// have been a queue.
pub fn knee_queued(doc: &SearchDoc) -> Option<String> {
    let (low, level) = (doc.answer.low?, doc.answer.low_level?);
    let left = 1.0 - low.0 / level.0;
    (left >= TOLD_FROM).then(|| {
        format!(
            "{} held, but {} of it may have been queueing when a run ended: {} is what the target is sure to sustain; longer runs (-d) \
             tell it more exactly",
            level_text(&doc.of, level),
            show_share(left),
            level_text(&doc.of, low)
        )
    })
}

#[cfg(test)]
mod tests {
    use wavetank_record::{Number, SearchAnswerDoc};

    use super::*;

    #[track_caller]
    fn check(low: Option<f64>, level: Option<f64>, told: Option<&str>) {
        let answer = SearchAnswerDoc {
            low: low.map(Number),
            low_level: level.map(Number),
            ..SearchAnswerDoc::default()
        };
        let doc = SearchDoc { of: "rate".to_owned(), answer, ..SearchDoc::default() };
        let note = knee_queued(&doc);
        assert_eq!(note.is_some(), told.is_some(), "{note:?}");
        assert!(note.unwrap_or_default().contains(told.unwrap_or_default()), "{low:?} of {level:?}");
    }

    #[test]
    fn a_queue_that_matters_is_told() {
        check(Some(490.0), Some(500.0), Some("500/s held, but 2 % of it"));
        check(Some(499.9), Some(500.0), None);
        check(Some(500.0), Some(500.0), None);
        check(Some(500.0), None, None);
        check(None, None, None);
    }
}
