//! [`done_after_load`]: what was answered outside the measured time, and so is in no rate.

use wavetank_record::RunRecord;

/// Answers after the load are told beside the rate from this share of all on.
const LATER_MIN: f64 = 0.01;

/// Requests answered within the measured time.
pub(crate) fn done_in_time(record: &RunRecord) -> u64 {
    ((record.rate.done_per_s.0 * record.duration_s.0).round() as u64).min(record.requests.done)
}

/// Requests answered outside the measured time, where they are not few: no rate over that time has them.
pub(crate) fn done_after_load(record: &RunRecord) -> Option<u64> {
    let done = record.requests.done;
    let later = done - done_in_time(record);
    (later > 0 && later as f64 >= done as f64 * LATER_MIN).then_some(later)
}
