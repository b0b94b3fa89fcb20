//! Times: the parts of a request's time, each as percentiles.

use wavetank_record::{RunRecord, Spread, Times};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{self, Absent, Own, Shared};
use super::table::{Column, Table};
use super::value::Value;
use crate::text_layout::LABEL_COLUMNS;

/// The parts that add up to the response time.
const SUMMANDS: [&str; 3] = ["service", "wait", "lag"];
/// The percentiles that all formats have.
const COMMON: [&str; 4] = ["p50", "p90", "p99", "p99_9"];

/// Width of a cell on a terminal.
const CELL: usize = 10;
/// On a terminal a part with a p99, or a count, below this share of the response's is left out,
/// because it explains nothing.
const WORTH_SHOWING: f64 = 0.05;

/// A part of the time of requests that was measured.
pub(crate) struct TimedPart<'a> {
    pub(crate) name: &'static str,
    pub(crate) on_page: PageText,
    count: u64,
    pub(crate) spread: &'a Spread,
}

impl TimedPart<'_> {
    fn percentile(&self, field: &str) -> Value {
        // If nothing took any time, no percentile is uncertain.
        let is_nothing = self.spread.max.0 == 0.0;
        if is_nothing {
            Value::time(Some(self.spread.max))
        } else {
            Value::percentile(Some(self.spread), field)
        }
    }
}

type Col<'a> = Column<TimedPart<'a>>;

fn columns<'a>() -> [Col<'a>; 13] {
    [
        Col::text("time", Own([""; 2]), |part| Value::Term(part.name, part.on_page)),
        Col::number("", Shared(|w| w.columns.samples), |part| Value::Count(part.count)),
        Col::number("", Shared(|w| w.columns.min), |part| Value::time(Some(part.spread.min))),
        Col::number("", Shared(|w| w.columns.mean), |part| Value::time(Some(part.spread.mean))),
        Col::number("p50", Own(["p50"; 2]), |part| part.percentile("p50")).narrow("p50", CELL),
        Col::number("", Own(["p75"; 2]), |part| part.percentile("p75")),
        Col::number("p90", Own(["p90"; 2]), |part| part.percentile("p90")).narrow("p90", CELL),
        Col::number("", Own(["p95"; 2]), |part| part.percentile("p95")),
        Col::number("p99", Own(["p99"; 2]), |part| part.percentile("p99")).narrow("p99", CELL),
        Col::number("p99.9", Own(["p99.9"; 2]), |part| part.percentile("p99_9")).narrow("p99.9", CELL),
        Col::number("", Own(["p99.99"; 2]), |part| part.percentile("p99_99")),
        Col::number("max", Shared(|w| w.columns.max), |part| Value::time(Some(part.spread.max)))
            .narrow("max", CELL),
        Col::number("n", Absent, |part| Value::Count(part.count)).narrow("n", CELL),
    ]
}

/// The parts that took any time, and those that add up to the response time.
pub(crate) fn timed_parts(record: &RunRecord) -> Vec<TimedPart<'_>> {
    let all: [(&str, PageText, &Times); 11] = [
        ("response", Shared(|w| w.times.response), &record.response_us),
        ("service", Shared(|w| w.times.service), &record.service_us),
        ("wait", Shared(|w| w.times.wait), &record.wait_us),
        ("lag", Shared(|w| w.times.lag), &record.lag_us),
        ("first byte", Shared(|w| w.times.ttfb), &record.ttfb_us),
        ("transfer", Shared(|w| w.times.transfer), &record.transfer_us),
        ("connect", Shared(|w| w.times.connect), &record.connect_us),
        ("TLS", Shared(|w| w.times.tls), &record.tls_us),
        ("hello", Shared(|w| w.times.hello), &record.hello_us),
        ("ping", Shared(|w| w.times.ping), &record.ping_us),
        ("failed", Shared(|w| w.times.failed), &record.failed_us),
    ];
    let parts = all.into_iter().filter_map(|(name, on_page, times)| {
        let spread = times.spread.as_ref()?;
        let is_shown = spread.max.0 > 0.0 || SUMMANDS.contains(&name);
        is_shown.then_some(TimedPart { name, on_page, count: times.count, spread })
    });
    parts.collect()
}

/// The times of a run.
pub(crate) fn times(record: &RunRecord) -> Section {
    let parts = timed_parts(record);
    let mut table = Table::new("", &columns(), &parts);
    table.label_columns = Some(LABEL_COLUMNS);
    for (row, part) in table.rows.iter_mut().zip(&parts) {
        row.is_wide_only = !is_relevant(record, part);
    }
    let timed = parts.iter().filter(|part| part.spread.max.0 > 0.0);
    let shown = parts.iter().filter(|part| is_relevant(record, part));
    let terminal_notes = remarks(shown).into_iter().map(|remark| ("", vec![remark])).collect();
    Section { notes: remarks(timed), terminal_notes, ..Section::of_table("Times", table) }
}

/// Whether a terminal shows the part.
fn is_relevant(record: &RunRecord, part: &TimedPart) -> bool {
    let response = record.response_us.spread.as_ref().map_or(0.0, |spread| spread.p99.0);
    let is_worth = |whole: f64, own: f64| whole > 0.0 && own > whole * WORTH_SHOWING;
    match part.name {
        // Pings are only sent if they are wanted.
        "response" | "service" | "ping" | "failed" => true,
        // With TLS, the cost of opening connections is of interest.
        "connect" | "TLS" if record.tls.is_some() => true,
        "first byte" => false,
        // No response time includes the few connections that were opened before the load.
        _ => {
            is_worth(response, part.spread.p99.0)
                && part.count as f64 > record.response_us.count as f64 * WORTH_SHOWING
        }
    }
}

/// Explains the sign of uncertain percentiles, and unexpected values in a histogram.
fn remarks<'a>(parts: impl Iterator<Item = &'a TimedPart<'a>> + Clone) -> Vec<String> {
    let is_uncertain =
        |field: &&str, spread: &Spread| spread.is_uncertain(field) && !spread.is_unknown(field);
    let mut remarks = Vec::new();
    if parts.clone().any(|part| COMMON.iter().any(|field| is_uncertain(field, part.spread))) {
        remarks.push("~ fewer than 10 samples lie above this percentile".to_owned());
    }
    for TimedPart { name, spread, .. } in parts {
        if spread.censored > 0 {
            let censored = format_grouped(spread.censored);
            let waited = "requests without an answer, with the time they waited";
            remarks.push(format!("{name} includes {censored} {waited}"));
        }
        if spread.clipped > 0 {
            let clipped = format_grouped(spread.clipped);
            remarks.push(format!("{name} includes {clipped} times above 73 minutes in one bucket"));
        }
    }
    remarks
}
