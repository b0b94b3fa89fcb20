//! [`lag_part`]: the part of a response time that the load generator caused.

use wavetank_record::{Number, RunRecord};

/// Lag above this share of a percentile of the response time is shown next to it.
const SHOWN_FROM: f64 = 0.1;

/// Returns whether the generator is a part of a percentile on the first page that is worth showing.
/// The target's limit is unknown then.
pub(crate) fn has_lag_part(record: &RunRecord) -> bool {
    ["p50", "p99"].iter().any(|field| lag_part(record, field).is_some())
}

/// Returns the lag in percentile `field` of the response time. `None` if it is a small part, or if
/// one of the two is unknown.
pub(crate) fn lag_part(record: &RunRecord, field: &str) -> Option<Number> {
    let [response, lag] = [&record.response_us, &record.lag_us].map(|times| {
        let spread = times.spread.as_ref().filter(|spread| !spread.is_unknown(field))?;
        spread.percentile(field)
    });
    let (response, lag) = (response?, lag?);
    // Two percentiles are of different requests, so the lag may be the higher one.
    // A request that was open when the run ended may have waited for no time.
    (response.0 > 0.0 && lag.0 > response.0 * SHOWN_FROM).then_some(Number(lag.0.min(response.0)))
}
