//! The results of sessions: sessions, checks, counts, rendezvous, and the hooks around the load.

use maud::{Markup, html};
use wavetank_measure::ErrorClass;
use wavetank_record::Finding;
use wavetank_units::quantity::format_grouped;

use super::Section;
use super::page_context::{PageContext, isolate_untrusted, outside_code};
use super::requests::named;
use crate::format;
use crate::section::{
    checks, checks_by_name, counts, has_sessions, hooks, page_table, rendezvous, sessions as session_section,
};

/// Most failed checks shown next to a finding. Their section has all of them.
const FAILED_MAX: usize = 3;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let own = &words.journeys;
    let parts =
        [(own.checks, checks(record)), (own.counts, counts(record)), (own.rendezvous, rendezvous(record))];
    let hooks = hooks(record).map(|hook| (hook.title.in_language(sheet.language()), hook));
    let body = html! {
        (sessions(sheet))
        @for (title, section) in parts.iter().chain(&hooks) {
            @if !section.table.rows.is_empty() { h3 { (title) } (page_table(&section.table, sheet, title)) }
        }
    };
    Section::new("sessions", words.titles.journeys, words.leads.journeys, body)
}

/// Sessions, unless they are the same as requests.
fn sessions(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    if !has_sessions(record) {
        return html! {};
    }
    let (own, columns) = (record.sessions, &words.columns);
    html! {
        h3 { (words.journeys.sessions) }
        (page_table(&session_section(record).table, sheet, words.journeys.sessions))
        (named(sheet, words.counts.dropped_by, columns.reason, &record.sessions_dropped_by, own.dropped))
    }
}

/// Lists the failed checks with their steps and counts, and the number of requests that failed for
/// another reason. The finding of failed checks says only that there were some. Empty for other
/// findings.
pub(super) fn failed_checks(sheet: &PageContext, finding: &Finding) -> Markup {
    if finding.code != ErrorClass::Check.name() {
        return html! {};
    }
    let (record, words) = (sheet.record(), &sheet.words.journeys);
    let mut failed: Vec<_> = checks_by_name(record).into_iter().filter(|check| check.failed > 0).collect();
    failed.sort_by_key(|check| std::cmp::Reverse(check.failed));
    // Requests with a failed extraction have this code, too, and several checks may fail in one
    // request.
    let in_all = record.errors.get(&finding.code).copied().unwrap_or_default();
    let others = failed.iter().fold(in_all, |rest, check| rest.saturating_sub(check.failed));
    let (open, close) = sheet.words.page.brackets;
    html! {
        @if !failed.is_empty() || others > 0 {
            (words.failed_checks) (sheet.words.page.colon)
            @if failed.is_empty() { (words.no_failed_check) }
            @for (number, check) in failed.iter().take(FAILED_MAX).enumerate() {
                @if number > 0 { (words.next_check) }
                (outside_code(&format::cut(&check.name))) (open) (isolate_untrusted(&format::cut(&check.steps.join(", ")))) (close)
                ((words.failed_of)(&format_grouped(check.failed), &format_grouped(check.held + check.failed)))
            }
            @if failed.len() > FAILED_MAX {
                (words.next_check) ((sheet.words.front.more_below)(&(failed.len() - FAILED_MAX).to_string()))
            }
            @if others > 0 { (words.next_check) ((words.failed_otherwise)(&format_grouped(others))) }
            @if others > 0 && record.samples.iter().any(|sample| sample.kind != "slow") { (words.see_failures) }
        }
    }
}
