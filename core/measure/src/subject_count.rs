//! [`subject_count`]: what a condition counts for one key, and the part that the generator caused.

use wavetank_plan::{RequestCounter, Subject};

use crate::{DropReason, ErrorClass, RequestCounters, StepSeries, TargetSeries};

/// Returns the count of the subject, and the count without the generator's failures and drops.
/// Requests lost to the generator are assumed to have been done otherwise.
pub(crate) fn subject_count(subject: &Subject, series: &StepSeries, full: bool) -> (u64, u64) {
    let counters = &series.counters;
    let failed_by_generator = counters.failed_by_generator();
    let dropped_by_generator = generator_drops(counters, full);
    let lost = failed_by_generator + dropped_by_generator;
    match subject {
        Subject::Requests(RequestCounter::Offered, _) => (counters.offered, counters.offered),
        Subject::Requests(RequestCounter::Sent, _) => (counters.sent, counters.sent + lost),
        Subject::Requests(RequestCounter::Done, _) => (counters.done, counters.done + lost),
        Subject::Requests(RequestCounter::Failed, _) => {
            (counters.failed(), counters.failed() - failed_by_generator)
        }
        // Lag is caused by the generator alone.
        Subject::Requests(RequestCounter::Late, _) => (counters.late, 0),
        Subject::Requests(RequestCounter::Dropped, _) => {
            (counters.dropped(), counters.dropped() - dropped_by_generator)
        }
        Subject::Errors(name) => errors(name, counters),
        Subject::Status(code) => (series.status.get(*code), series.status.get(*code)),
        _ => (0, 0),
    }
}

/// What a condition on messages counts.
pub(crate) fn message_count(subject: &Subject) -> Option<fn(&TargetSeries) -> u64> {
    match subject {
        Subject::MessagesIn => Some(|series| series.messages.received),
        Subject::MessagesOut => Some(|series| series.messages.sent),
        Subject::PingsLost => Some(|series| series.pings_sent.saturating_sub(series.ping.count())),
        _ => None,
    }
}

/// `errors(CLASS)`; for the generator's classes also the requests dropped for the same reason
/// (`docs/measuring.md` §2).
fn errors(name: &str, counters: &RequestCounters) -> (u64, u64) {
    let dropped = match DropReason::parse(name) {
        Some(reason @ (DropReason::NoFiles | DropReason::NoSourceAddress)) => {
            counters.dropped_by[reason as usize]
        }
        _ => 0,
    };
    let Some(class) = ErrorClass::parse(name) else { return (dropped, 0) };
    let count = counters.errors[class as usize] + dropped;
    (count, if class.is_generator() { 0 } else { count })
}

/// Requests dropped for a generator reason: every reason except `max_open`, and that one too while
/// a load thread was full.
pub(crate) fn generator_drops(counters: &RequestCounters, full: bool) -> u64 {
    drops_by_generator(&counters.dropped_by, full)
}

/// The same of drops by reason.
pub(crate) fn drops_by_generator(dropped_by: &[u64; DropReason::ALL.len()], full: bool) -> u64 {
    let dropped: u64 = dropped_by.iter().sum();
    if full { dropped } else { dropped - dropped_by[DropReason::MaxOpen as usize] }
}
