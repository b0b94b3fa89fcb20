//! The results of sessions: sessions, checks, counts, rendezvous, and the hooks around the load.

use maud::{Markup, html};
use wavetank_measure::ErrorClass;
use wavetank_record::{Finding, HookDoc};
use wavetank_units::quantity::format_grouped;

use super::Section;
use super::badges::{mark, result};
use super::page_context::{PageContext, isolate_untrusted, outside_code};
use super::requests::named;
use super::table::{Cell, Table};
use crate::format;
use crate::journeys_text::by_name;
use crate::section::{has_sessions, page_table, sessions as session_section};

/// Most failed checks shown next to a finding. Their section has all of them.
const FAILED_MAX: usize = 3;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let own = &words.journeys;
    let body = html! {
        (sessions(sheet))
        @if !record.checks.is_empty() { h3 { (own.checks) } (checks(sheet)) }
        @if !record.counts.is_empty() { h3 { (own.counts) } (counts(sheet)) }
        @if !record.rendezvous.is_empty() { h3 { (own.rendezvous) } (rendezvous(sheet)) }
        @for (title, around) in [(own.before, &record.before), (own.after, &record.after)] {
            @if let Some(around) = around { (hook_section(sheet, title, around)) }
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

/// Checks by name: failed ones first, then those that never ran.
fn checks(sheet: &PageContext) -> Markup {
    let (words, columns) = (&sheet.words.marks, &sheet.words.columns);
    let mut named = by_name(sheet.record());
    named.sort_by_key(|check| match (check.failed, check.held) {
        (1.., _) => 0,
        (0, 0) => 1,
        (0, _) => 2,
    });
    let heads = [
        (columns.name, false),
        (columns.result, false),
        (columns.step, false),
        (columns.answers, true),
        (sheet.words.counts.failed, true),
    ];
    let mut table = Table::new(sheet.words.journeys.checks, &heads);
    for check in named {
        let answers = check.held + check.failed;
        let sign = match (check.failed, answers) {
            (_, 0) => mark("doubt", "?", words.unasked),
            (0, _) => mark("good", "✓", words.held),
            _ => mark("bad", "✗", words.failed),
        };
        table.row(vec![
            Cell::Name(check.name.clone()),
            Cell::Any(sign),
            Cell::Name(check.steps.join(", ")),
            Cell::Number(format_grouped(answers)),
            Cell::Number(if check.failed == 0 {
                "0".to_owned()
            } else {
                format::count_with_share(check.failed, answers)
            }),
        ]);
    }
    table.render(sheet)
}

/// Lists the failed checks with their steps and counts, and the number of requests that failed for
/// another reason. The finding of failed checks says only that there were some. Empty for other
/// findings.
pub(super) fn failed_checks(sheet: &PageContext, finding: &Finding) -> Markup {
    if finding.code != ErrorClass::Check.name() {
        return html! {};
    }
    let (record, words) = (sheet.record(), &sheet.words.journeys);
    let mut failed: Vec<_> = by_name(record).into_iter().filter(|check| check.failed > 0).collect();
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

fn counts(sheet: &PageContext) -> Markup {
    let columns = &sheet.words.columns;
    let mut table = Table::new(sheet.words.journeys.counts, &[(columns.name, false), (columns.count, true)]);
    for (name, &n) in &sheet.record().counts {
        table.row(vec![Cell::Name(name.clone()), Cell::Number(format_grouped(n))]);
    }
    table.render(sheet)
}

fn rendezvous(sheet: &PageContext) -> Markup {
    let words = &sheet.words.journeys;
    let heads = [
        (sheet.words.columns.name, false),
        (words.met, true),
        (words.present, true),
        (words.by_wait, true),
        (words.skew, true),
    ];
    let mut table = Table::new(words.rendezvous, &heads);
    for place in &sheet.record().rendezvous {
        let mut cells = vec![Cell::Name(place.name.clone())];
        cells.extend([place.met, place.present, place.by_wait].map(|n| Cell::Number(format_grouped(n))));
        cells.push(Cell::Number(place.skew_us.map_or_else(|| "–".to_owned(), format::time)));
        table.row(cells);
    }
    table.render(sheet)
}

fn hook_section(sheet: &PageContext, title: &str, around: &HookDoc) -> Markup {
    html! {
        @if !around.checks.is_empty() || !around.faults.is_empty() {
            h3 { (title) }
            ul {
                @for fault in &around.faults {
                    li { (result(sheet, Some(false))) " " (isolate_untrusted(&fault.step)) (sheet.words.page.colon) (sheet.stored(&fault.what)) }
                }
                @for check in &around.checks {
                    li {
                        (result(sheet, Some(check.ok))) " " (isolate_untrusted(&check.step)) (sheet.words.page.colon) (isolate_untrusted(&check.name))
                        @if !check.found.is_empty() { " → " (isolate_untrusted(&check.found)) }
                    }
                }
            }
        }
    }
}
