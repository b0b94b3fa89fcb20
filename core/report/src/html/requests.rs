//! Outcomes of the requests: the seven counts, and the causes of failed and dropped ones.

use std::collections::BTreeMap;

use maud::{Markup, html};
use wavetank_units::quantity::{format_grouped, show_share, show_size};
use wavetank_units::status_text;

use super::Section;
use super::badges::explain_link;
use super::page_context::PageContext;
use super::table::{Cell, Table, facts};
use crate::done_after_load::done_after_load;
use crate::explain_command::more_about_errors;
use crate::format::count_with_share;
use crate::load_text::warmup_overlaps;
use crate::section::{page_table, requests};
use crate::threshold_state::was_killed;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    if record.requests.offered == 0 && record.setup.sent == 0 {
        return None;
    }
    let body = html! {
        @if record.requests.offered > 0 {
            (page_table(&requests(record).table, sheet, words.titles.requests))
            p.aside { (words.counts.sum) }
        }
        div.pair {
            (named(sheet, words.counts.errors, words.columns.reason, &record.errors, record.requests.failed))
            (named(sheet, words.counts.dropped_by, words.columns.reason, &record.dropped_by, record.requests.dropped))
            (statuses(sheet))
        }
        (explain_link(sheet, more_about_errors(record)))
        @let traffic = traffic(sheet);
        @if !traffic.0.is_empty() { h3 { (words.counts.traffic) } (traffic) }
        @if sheet.source.plan.is_some_and(warmup_overlaps) { p.aside { (words.charts.warmup_alongside) } }
    };
    let lead = if was_killed(record) { words.leads.requests_known } else { words.leads.requests };
    Section::new("requests", words.titles.requests, lead, body)
}

/// Counts by name, highest first; empty without any.
pub(crate) fn named(
    sheet: &PageContext,
    caption: &str,
    head: &str,
    counts: &BTreeMap<String, u64>,
    all: u64,
) -> Markup {
    let mut counts: Vec<_> = counts.iter().filter(|&(_, &n)| n > 0).collect();
    counts.sort_by_key(|&(name, &n)| (std::cmp::Reverse(n), name));
    let columns = &sheet.words.columns;
    let mut table = Table::new(caption, &[(head, false), (columns.count, true), (columns.share, true)]);
    for (name, &n) in counts {
        let share = show_share(n as f64 / all.max(1) as f64);
        table.row(vec![Cell::Name(name.clone()), Cell::Number(format_grouped(n)), Cell::Number(share)]);
    }
    table.render(sheet)
}

fn statuses(sheet: &PageContext) -> Markup {
    let record = sheet.record();
    let all: u64 = record.status.values().sum();
    let statuses = record.status.iter().map(|(status, &n)| (status_text(*status), n)).collect();
    named(sheet, sheet.words.counts.statuses, sheet.words.columns.status, &statuses, all)
}

fn traffic(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.counts);
    let duration = record.duration_s.0;
    let way = |bytes: u64, is_in_time: bool| {
        let rate =
            (is_in_time && duration > 0.0).then(|| show_size((bytes as f64 / duration).round() as u64));
        html! { @if bytes > 0 { (show_size(bytes)) @if let Some(rate) = rate { " (" (rate) "/s)" } } }
    };
    let wire = record.wire;
    let extra = |n: u64| html! { @if n > 0 { (format_grouped(n)) } };
    let warmup = html! {
        @if let Some(requests) = record.warmup.requests {
            (words.done) " " (format_grouped(requests.done))
            @for (name, n) in [(words.failed, requests.failed), (words.dropped, requests.dropped), (words.open, requests.open)] {
                @if n > 0 { " · " (name) " " (count_with_share(n, requests.offered)) }
            }
            " – " (words.warmup_apart)
        }
    };
    facts(vec![
        (words.received, way(record.bytes.received, done_after_load(record).is_none())),
        (words.sent_bytes, way(record.bytes.sent, true)),
        (words.wire, extra(wire.sent)),
        (words.retried, extra(wire.retried)),
        (words.redirected, extra(wire.redirected)),
        (words.resources, extra(wire.resources)),
        (words.one_way, extra(wire.one_way)),
        (words.messages_out, extra(record.messages.map_or(0, |messages| messages.sent))),
        (words.messages_in, extra(record.messages.map_or(0, |messages| messages.received))),
        (words.pings, extra(record.pings.map_or(0, |pings| pings.sent))),
        (words.pings_answered, extra(record.pings.map_or(0, |pings| pings.answered))),
        (words.warmup, warmup),
        (words.setup, extra(record.setup.sent)),
    ])
}
