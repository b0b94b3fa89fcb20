//! [`known_fraction`]: the share of planned requests with a known time if some were dropped.

use wavetank_record::{RunRecord, Spread};

/// The share of a run's requests with a known time. Dropped requests have no time, and would be
/// above all others.
pub(crate) fn known_fraction(record: &RunRecord) -> f64 {
    let requests = record.requests;
    let counted = 1.0 - requests.dropped as f64 / requests.offered.max(1) as f64;
    let Some(spread) = &record.response_us.spread else { return counted };
    let said = |unknown: bool| {
        let like = move |(name, _): &&(&str, f64)| spread.is_unknown(name) == unknown;
        Spread::PERCENTILES.iter().filter(like).map(|(_, q)| q / 100.0)
    };
    // The number of requests of dropped sessions is unknown. Only the record says which percentiles
    // they leave unknown.
    if said(true).any(|q| q <= counted) { said(false).fold(0.0, f64::max) } else { counted }
}

/// Whether percentile `q` (0 to 100) of `offered` requests is known if `dropped` of them were
/// dropped. Their times would be above all others.
pub(crate) fn is_known(dropped: u64, offered: u64, q: f64) -> bool {
    is_percentile_known(1.0 - dropped as f64 / offered.max(dropped).max(1) as f64, q)
}

/// Whether percentile `q` (0 to 100) is within the share `known`, with a tolerance for rounding.
pub(crate) fn is_percentile_known(known: f64, q: f64) -> bool {
    q / 100.0 <= known + 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_has_the_last_word() {
        let check = |dropped: u64, unknown: &[&str], share: f64| {
            let mut record = RunRecord::default();
            (record.requests.offered, record.requests.dropped) = (1_000, dropped);
            let unknown = unknown.iter().map(|name| (*name).to_owned()).collect();
            record.response_us.spread = Some(Spread { unknown, ..Spread::default() });
            let shown = known_fraction(&record);
            assert!((shown - share).abs() < 1e-9, "{dropped} dropped: {shown}, not {share}");
        };
        check(0, &[], 1.0);
        check(30, &["p99", "p99_9", "p99_99"], 0.97);
        // Sessions of several steps were dropped; their requests are not even offered.
        check(0, &["p99", "p99_9", "p99_99"], 0.95);
        check(0, &["p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99"], 0.0);
    }
}
