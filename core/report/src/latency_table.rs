//! The table of times: one row for each relevant part of a request's time.

use wavetank_record::{RunRecord, Times};
use wavetank_units::quantity::format_grouped;

use crate::format;
use crate::section::time_remarks;
use crate::text_layout::{TextLayout, pad_left};

/// Columns of one cell.
const CELL_COLUMNS: usize = 10;
/// The percentiles shown, by field name and heading.
const SHOWN: [(&str, &str); 4] = [("p50", "p50"), ("p90", "p90"), ("p99", "p99"), ("p99_9", "p99.9")];
/// A part with a p99, or a count, below this share of the response's is left out, because it
/// explains nothing.
const WORTH_SHOWING: f64 = 0.05;

/// Adds the table; nothing if nothing was timed.
pub(crate) fn add_times(page: &mut TextLayout, record: &RunRecord) {
    let rows: Vec<_> = rows(record)
        .into_iter()
        .filter_map(|(name, times)| Some((name, times.count, times.spread.as_ref()?)))
        .collect();
    if rows.is_empty() {
        return;
    }
    let headings = SHOWN.iter().map(|(_, heading)| *heading).chain(["max", "n"]);
    page.line(&format!("{}{}", " ".repeat(10), headings.map(cell).collect::<String>()));
    for (name, count, spread) in &rows {
        let percentiles = SHOWN.iter().map(|(field, _)| format::percentile(spread, field));
        let cells: String = percentiles
            .chain([format::time(spread.max), format_grouped(*count)])
            .map(|text| cell(&text))
            .collect();
        page.labelled(name, &[cells]);
    }
    for remark in time_remarks(rows.iter().map(|(name, _, spread)| (*name, *spread))) {
        page.sentence("", &remark);
    }
}

fn rows(record: &RunRecord) -> Vec<(&'static str, &Times)> {
    let mut rows = vec![("response", &record.response_us), ("service", &record.service_us)];
    let reference = p99(&record.response_us);
    let parts = [
        ("wait", &record.wait_us),
        ("connect", &record.connect_us),
        ("tls", &record.tls_us),
        ("hello", &record.hello_us),
        ("transfer", &record.transfer_us),
        ("lag", &record.lag_us),
    ];
    // No response time includes the few connections that were opened before the load.
    let many = |times: &Times| times.count as f64 > record.response_us.count as f64 * WORTH_SHOWING;
    let worth = |times: &Times| reference > 0.0 && p99(times) > reference * WORTH_SHOWING && many(times);
    // With TLS, the cost of opening connections is of interest.
    let opening = |name: &str| record.tls.is_some() && ["connect", "tls"].contains(&name);
    rows.extend(parts.into_iter().filter(|(name, times)| worth(times) || opening(name)));
    // Pings are only sent if they are wanted.
    rows.push(("ping", &record.ping_us));
    rows.push(("failed", &record.failed_us));
    rows
}

fn p99(times: &Times) -> f64 {
    times.spread.as_ref().map_or(0.0, |spread| spread.p99.0)
}

fn cell(text: impl AsRef<str>) -> String {
    pad_left(text.as_ref(), CELL_COLUMNS)
}
