//! [`Outcome`]: what became of a condition, as every form of a report tells it.

use wavetank_record::{RunRecord, Status, Threshold};

use crate::units;

/// Reasons of a verdict by which a run ended before its plan did, or is not known to the end.
const CUT_SHORT: [&str; 3] = ["lost", "signal", "stopped"];

/// What became of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Held,
    /// It held in what is known of a run that ended before its plan did: it might have broken later.
    HeldAsKnown,
    /// It broke nothing since nothing was sent.
    NotJudged,
    Broken,
    Undecided,
}

impl Outcome {
    /// What became of `threshold`, one of `record`'s.
    pub(crate) fn of(record: &RunRecord, threshold: &Threshold) -> Self {
        match threshold.ok {
            Some(true) if sent_nothing(record) => Self::NotJudged,
            Some(true) if was_cut_short(record) => Self::HeldAsKnown,
            Some(true) => Self::Held,
            Some(false) => Self::Broken,
            None => Self::Undecided,
        }
    }

    /// What must be said beside the word; empty where the word says it all.
    pub(crate) const fn why(self) -> &'static str {
        match self {
            Self::HeldAsKnown => "held as far as known",
            Self::NotJudged => "not judged: nothing was sent",
            Self::Held | Self::Broken | Self::Undecided => "",
        }
    }
}

/// What was found for `threshold`, one of `record`'s, with its unit; empty where nothing was sent and a zero would only mean
/// that.
pub(crate) fn found(record: &RunRecord, threshold: &Threshold) -> String {
    if sent_nothing(record) { String::new() } else { units::threshold_value(threshold) }
}

/// Whether the load ended before its plan did, or is not known to its end.
pub(crate) fn was_cut_short(record: &RunRecord) -> bool {
    let verdict = &record.verdict;
    verdict.status == Status::Incomplete
        && verdict.reasons.iter().any(|reason| CUT_SHORT.contains(&reason.as_str()))
}

/// Whether the load never began: neither a request nor a connection was wanted.
pub(crate) const fn sent_nothing(record: &RunRecord) -> bool {
    record.requests.offered == 0 && record.connections.offered == 0
}
