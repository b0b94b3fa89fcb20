//! Outcomes of the requests: the seven counts, and the causes of failed and dropped ones.

use std::collections::BTreeMap;

use maud::{Markup, html};
use wavetank_units::quantity::{format_grouped, show_share};
use wavetank_units::status_text;

use super::Section;
use super::badges::explain_link;
use super::page_context::PageContext;
use super::table::{Cell, Table};
use crate::explain_command::more_about_errors;
use crate::format::count_with_share;
use crate::load_text::warmup_overlaps;
use crate::section::PageText::Shared;
use crate::section::{Fact, Value, page_body, page_table, requests, traffic};
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
        @let network = network(sheet);
        @if !network.0.is_empty() { h3 { (words.counts.traffic) } (network) }
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

/// The traffic, and the requests that no count above has.
fn network(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.counts);
    let warmup = html! {
        @if let Some(requests) = record.warmup.requests {
            (words.done) " " (format_grouped(requests.done))
            @for (name, n) in [(words.failed, requests.failed), (words.dropped, requests.dropped), (words.open, requests.open)] {
                @if n > 0 { " · " (name) " " (count_with_share(n, requests.offered)) }
            }
            " – " (words.warmup_apart)
        }
    };
    let mut section = traffic(record);
    section.facts.push(Fact::on_page(Shared(|words| words.counts.warmup), Value::Page(warmup)));
    section.facts.push(Fact::on_page(Shared(|words| words.counts.setup), Value::known(record.setup.sent)));
    page_body(&section, sheet)
}
