//! [`done_after_load`]: requests answered outside the measured time, which no rate includes.

use wavetank_record::RunRecord;

/// Responses after the load are shown next to the rate from this share of all on.
const LATER_MIN: f64 = 0.01;

/// Requests answered within the measured time.
pub(crate) fn done_in_time(record: &RunRecord) -> u64 {
    ((record.rate.done_per_s.0 * record.duration_s.0).round() as u64).min(record.requests.done)
}

/// Returns the requests answered outside the measured time, unless they are few. No rate over that
/// time includes them.
pub(crate) fn done_after_load(record: &RunRecord) -> Option<u64> {
    let done = record.requests.done;
    let later = done - done_in_time(record);
    (later > 0 && later as f64 >= done as f64 * LATER_MIN).then_some(later)
}
