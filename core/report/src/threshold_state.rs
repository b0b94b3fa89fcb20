//! [`ThresholdState`]: the result of a threshold, as every form of a report shows it.

use wavetank_plan::{Condition, LatencyPart, Subject};
use wavetank_record::{Number, RunRecord, Spread, Status, Threshold};
use wavetank_units::registered;

use crate::format;

/// Reasons of a verdict by which a run ended before its plan did, or is not known to the end.
const CUT_SHORT: [&str; 4] = ["lost", "running", "signal", "stopped"];

/// What became of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThresholdState {
    Held,
    /// It passed in the known part of a run that ended early; it might have failed later.
    HeldAsKnown,
    /// It broke nothing since nothing was sent.
    NotJudged,
    Broken,
    Undecided,
}

impl ThresholdState {
    /// What became of `threshold`, one of `record`'s.
    pub(crate) fn for_threshold(record: &RunRecord, threshold: &Threshold) -> Self {
        match threshold.ok {
            Some(true) if sent_nothing(record) => Self::NotJudged,
            // It did not decide the verdict either: the load never started.
            Some(false) if sent_nothing(record) && !record.verdict.reasons.contains(&threshold.expr) => {
                Self::NotJudged
            }
            Some(true) if ended_early(record) => Self::HeldAsKnown,
            Some(true) => Self::Held,
            Some(false) => Self::Broken,
            None => Self::Undecided,
        }
    }

    /// The state in one word.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Held => "pass",
            Self::HeldAsKnown | Self::NotJudged => "skipped",
            Self::Broken => "fail",
            Self::Undecided => "undecided",
        }
    }
}

/// Why `threshold`, one of `record`'s, has its state; empty if its value shows it.
pub(crate) fn reason<'r>(record: &'r RunRecord, threshold: &'r Threshold) -> &'r str {
    match ThresholdState::for_threshold(record, threshold) {
        _ if !threshold.why.is_empty() => &threshold.why,
        ThresholdState::HeldAsKnown if is_running(record) => registered!("passed so far"),
        ThresholdState::HeldAsKnown => registered!("passed so far in a run that was cut short"),
        ThresholdState::NotJudged => registered!("nothing was sent"),
        ThresholdState::Held | ThresholdState::Broken | ThresholdState::Undecided => "",
    }
}

/// Returns the measured value for `threshold`, one of `record`'s, with its unit. A value that
/// dropped requests leave unknown is a lower bound. Empty if nothing was sent, because a zero would
/// only mean that.
pub(crate) fn measured_value(record: &RunRecord, threshold: &Threshold) -> String {
    if sent_nothing(record) {
        return String::new();
    }
    // What is undecided has no value either, but for another reason.
    let least = || threshold.ok.and_then(|_| least_found(record, &threshold.expr));
    match (threshold.value, least()) {
        (None, Some(least)) => format!("≥ {}", format::time(least)),
        _ => format::threshold_value(threshold),
    }
}

/// Lower bound of the time that `expr` asks for. Dropped requests have no time and count as above
/// all others.
fn least_found(record: &RunRecord, expr: &str) -> Option<Number> {
    let condition = Condition::parse(expr).ok().filter(|condition| condition.window.is_none())?;
    let (part, is_max) = match &condition.subject {
        Subject::Percentile(_, part, None) => (*part, false),
        Subject::Max(part, None) => (*part, true),
        _ => return None,
    };
    let (response, lag) = match &condition.phase {
        None => (&record.response_us, &record.lag_us),
        Some(name) => {
            let phase = record.phases.iter().find(|phase| phase.name == *name)?;
            (&phase.response_us, &phase.lag_us)
        }
    };
    let spread = match part {
        LatencyPart::Response => response.spread.as_ref(),
        LatencyPart::Lag => lag.spread.as_ref(),
        _ => None,
    }?;
    if is_max { Some(spread.max) } else { least(spread) }
}

/// Lower bound of the percentiles of `spread` that dropped requests leave unknown: the highest
/// known one.
pub(crate) fn least(spread: &Spread) -> Option<Number> {
    let known = Spread::PERCENTILES.iter().rev().find(|(field, _)| !spread.is_unknown(field));
    known.and_then(|(field, _)| spread.percentile(field))
}

/// Whether the load ended before its plan did, or is not known to its end.
pub(crate) fn ended_early(record: &RunRecord) -> bool {
    let verdict = &record.verdict;
    record.cut_short.is_some()
        || verdict.status == Status::Incomplete
            && verdict.reasons.iter().any(|reason| CUT_SHORT.contains(&reason.as_str()))
}

/// Whether the run had not ended when its record was made.
pub(crate) fn is_running(record: &RunRecord) -> bool {
    record.verdict.reasons.iter().any(|reason| reason == "running")
}

/// Whether the run's record has no end: what is looked at when a run ends was never looked at.
pub(crate) fn was_killed(record: &RunRecord) -> bool {
    record.verdict.status == Status::Incomplete
        && record.verdict.reasons.iter().any(|reason| reason == "lost")
}

/// Whether the load never started: no request and no connection was scheduled.
pub(crate) const fn sent_nothing(record: &RunRecord) -> bool {
    record.requests.offered == 0 && record.connections.offered == 0
}
