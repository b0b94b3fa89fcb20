//! Times: the parts of a request's time, each as percentiles.

use maud::{Markup, PreEscaped, html};
use wavetank_measure::{Histogram, TimeSeries};
use wavetank_plan::{Condition, LatencyPart, Plan, Subject, Value};
use wavetank_record::Spread;
use wavetank_units::quantity::format_grouped;

use super::Section;
use super::page_context::PageContext;
use crate::chart::{PercentileChart, SpectrumCurve};
use crate::completeness::known_fraction;
use crate::section::{TimedPart, page_table, timed_parts, times};

/// A part with a p99 below this share of the response's p99 has no curve, because it explains
/// nothing.
const WORTH_SHOWING: f64 = 0.05;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let parts = timed_parts(record);
    let body = html! {
        (page_table(&times(record).table, sheet, words.titles.times))
        (remarks(sheet, &parts))
        @if let Some(course) = sheet.source.course { (spectrum(sheet, course)) }
    };
    let nothing = parts.iter().all(|part| part.spread.max.0 == 0.0);
    let lead = match record.load.model.as_str() {
        _ if record.response_us.count == 0 => words.leads.times_none,
        // With held connections users wait for their responses, too.
        "closed" | "hold" => words.leads.times_closed,
        _ => words.leads.times,
    };
    Section::new("times", words.titles.times, lead, body).filter(|_| !nothing)
}

/// Explains the signs in the table, where they occur, and unexpected values in a histogram.
fn remarks(sheet: &PageContext, parts: &[TimedPart]) -> Markup {
    let words = &sheet.words.times;
    let any = |is: fn(&Spread, &str) -> bool| {
        parts.iter().any(|part| Spread::PERCENTILES.iter().any(|(field, _)| is(part.spread, field)))
    };
    html! {
        ul.aside {
            @if any(|spread, field| spread.is_uncertain(field) && !spread.is_unknown(field)) { li { (words.uncertain) } }
            @if any(Spread::is_unknown) { li { (words.unknown) } }
            @for reported in left_out(sheet) { li { (reported) } }
            @let response = sheet.record().response_us.count;
            @if response > 0 && sheet.record().lag_us.count > response { li { (words.lag_of_all) } }
            @for TimedPart { on_page, spread, .. } in parts {
                @let name = on_page.in_language(sheet.language());
                @if spread.censored > 0 { li { ((words.censored)(name, &format_grouped(spread.censored))) } }
                @if spread.clipped > 0 { li { ((words.clipped)(name, &format_grouped(spread.clipped))) } }
            }
        }
    }
}

/// Names the requests that no response time includes, if there are any.
pub(crate) fn left_out(sheet: &PageContext) -> impl Iterator<Item = String> {
    let (record, words) = (sheet.record(), &sheet.words.times);
    let all = [(record.requests.dropped, words.dropped_apart), (record.failed_us.count, words.failed_apart)];
    let is_any = record.response_us.count > 0;
    all.into_iter()
        .filter(move |(count, _)| *count > 0 && is_any)
        .map(|(count, reported)| reported(&format_grouped(count)))
}

/// The percentiles of response time and of its relevant parts, with thresholds on them as limits.
/// The table of the section has its numbers.
fn spectrum(sheet: &PageContext, course: &TimeSeries) -> Markup {
    let names = &sheet.words.times;
    if course.response.is_empty() {
        return html! {};
    }
    let p99 = |times: &Histogram| times.percentile(99.0).unwrap_or_default() as f64;
    let worth = |times: &Histogram| p99(times) > p99(&course.response) * WORTH_SHOWING;
    let parts = [(names.service, &course.service), (names.wait, &course.wait), (names.lag, &course.lag)];
    let known = known_fraction(sheet.record());
    let worth = parts.into_iter().filter(|(_, times)| worth(times));
    let curve = |(name, times)| {
        let of_all = name == names.response || name == names.lag;
        SpectrumCurve::new(name, times).known_up_to(if of_all { known } else { 1.0 })
    };
    let curves = [(names.response, &course.response)].into_iter().chain(worth).map(curve).collect();
    let limits = sheet.source.plan.map(limits).unwrap_or_default();
    let frame = sheet.frame("spectrum", sheet.words.charts.spectrum).high(260);
    html! {
        (PreEscaped(PercentileChart { frame, curves, limits }.draw()))
        @if known < 1.0 { p.aside { (names.line_ends) } }
    }
}

/// Thresholds on the response time of the whole run.
fn limits(plan: &Plan) -> Vec<(String, f64)> {
    let limit = |condition: &Condition| match (&condition.subject, condition.value) {
        (Subject::Percentile(_, LatencyPart::Response, None), Value::Time(time))
            if condition.phase.is_none() && condition.window.is_none() =>
        {
            Some((condition.text.clone(), time.0 as f64))
        }
        _ => None,
    };
    plan.thresholds.iter().filter_map(limit).collect()
}
