//! Times: the parts of a request's time, each as percentiles.

use wavetank_record::{RunRecord, Spread, Times};
use wavetank_units::quantity::format_grouped;

use super::model::Section;
use super::page_text::PageText::{self, Absent, Own, Shared};
use super::table::{Column, Table};
use super::value::Value;

/// The parts that add up to the response time.
const SUMMANDS: [&str; 3] = ["service", "wait", "lag"];
/// The percentiles that all formats have.
const COMMON: [&str; 4] = ["p50", "p90", "p99", "p99_9"];

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
        Col::number("p50", Own(["p50"; 2]), |part| part.percentile("p50")),
        Col::number("", Own(["p75"; 2]), |part| part.percentile("p75")),
        Col::number("p90", Own(["p90"; 2]), |part| part.percentile("p90")),
        Col::number("", Own(["p95"; 2]), |part| part.percentile("p95")),
        Col::number("p99", Own(["p99"; 2]), |part| part.percentile("p99")),
        Col::number("p99.9", Own(["p99.9"; 2]), |part| part.percentile("p99_9")),
        Col::number("", Own(["p99.99"; 2]), |part| part.percentile("p99_99")),
        Col::number("max", Shared(|w| w.columns.max), |part| Value::time(Some(part.spread.max))),
        Col::number("n", Absent, |part| Value::Count(part.count)),
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
    let timed = parts.iter().filter(|part| part.spread.max.0 > 0.0);
    let notes = time_remarks(timed.map(|part| (part.name, part.spread)));
    Section { notes, ..Section::of_table("Times", Table::new("", &columns(), &parts)) }
}

/// Explains the sign of uncertain percentiles, and unexpected values in a histogram.
pub(crate) fn time_remarks<'a>(
    parts: impl Iterator<Item = (&'static str, &'a Spread)> + Clone,
) -> Vec<String> {
    let is_uncertain =
        |field: &&str, spread: &Spread| spread.is_uncertain(field) && !spread.is_unknown(field);
    let mut remarks = Vec::new();
    if parts.clone().any(|(_, spread)| COMMON.iter().any(|field| is_uncertain(field, spread))) {
        remarks.push("~ fewer than 10 samples lie above this percentile".to_owned());
    }
    for (name, spread) in parts {
        let (censored, clipped) = (format_grouped(spread.censored), format_grouped(spread.clipped));
        if spread.censored > 0 {
            let waited = "requests without an answer, with the time they waited";
            remarks.push(format!("{name} includes {censored} {waited}"));
        }
        if spread.clipped > 0 {
            remarks.push(format!("{name} includes {clipped} times above 73 minutes in one bucket"));
        }
    }
    remarks
}
