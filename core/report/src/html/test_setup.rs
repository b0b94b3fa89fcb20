//! The test on the first page: target, load, thresholds and hosts.

use maud::{Markup, html};
use wavetank_record::{CutShortDoc, Threshold};
use wavetank_units::quantity::show_size;

use super::page_context::{PageContext, isolate_untrusted, outside_code, with_nonbreaking_units};
use super::table::facts;
use super::thresholds::{ordered, result_mark};
use crate::format;
use crate::section::{HOSTS_TITLE, known_role};
use crate::threshold_state::{is_running, measured_value, was_killed};

/// Most thresholds shown. Their section has all of them.
const CLAIMS_MAX: usize = 6;
/// Most failed thresholds shown. None is left out in favour of others.
const BROKEN_MAX: usize = 20;
/// Most hosts of a lab shown.
const LAB_HOSTS_MAX: usize = 8;

/// The target, the load, the thresholds, and the hosts.
pub(crate) fn tested(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let (open, close) = sheet.words.page.brackets;
    let defaults = html! { @if record.load.defaults { (open) (words.defaults) (close) } };
    let nothing = |text: &str| {
        if text.is_empty() {
            html! {}
        } else {
            isolate_untrusted(text)
        }
    };
    facts(vec![
        (words.target, nothing(&record.target)),
        (
            words.load,
            html! {
                @if !record.load.text.is_empty() { (sheet.stored(&record.load.text)) (defaults) (cut_short(sheet)) }
            },
        ),
        (words.claimed, claims(sheet)),
        (words.hosts, host(sheet)),
    ])
}

/// For a load that was cut short, or has no known end: how much of the planned load has run, and
/// why not more.
fn cut_short(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), &sheet.words.front);
    let Some(CutShortDoc { planned_s, why }) = &record.cut_short else { return html! {} };
    let ran = format::seconds(record.duration_s);
    let planned = planned_s.map_or_else(|| words.unknown.to_owned(), format::seconds);
    let reported = if was_killed(record) || is_running(record) { words.known_of } else { words.cut_short };
    html! {
        " · " (with_nonbreaking_units(&reported(&ran, &planned)))
        (sheet.words.page.colon) (sheet.stored(why))
    }
}

/// The user's thresholds and the implicit ones that did not pass, each with its result, the failed
/// ones first. Implicit ones that passed follow by name.
fn claims(sheet: &PageContext) -> Markup {
    let words = &sheet.words.front;
    let thresholds = ordered(sheet.record());
    let (open, close) = sheet.words.page.brackets;
    let not_asked = thresholds.iter().all(|one| one.implicit);
    let has_held = |one: &&Threshold| one.implicit && one.ok == Some(true);
    let (held, reported): (Vec<_>, Vec<_>) = thresholds.into_iter().partition(has_held);
    let broken = reported.iter().filter(|one| one.ok == Some(false)).count();
    let most = broken.clamp(CLAIMS_MAX, BROKEN_MAX);
    let more = |n: usize| (words.more_below)(&n.to_string());
    html! {
        @if not_asked { (words.nothing_claimed) }
        @if !reported.is_empty() {
            ul.claims {
                @for one in reported.iter().take(most) {
                    @let found = measured_value(sheet.record(), one);
                    li {
                        (result_mark(sheet, one)) " " (outside_code(&one.expr))
                        @if one.implicit { (open) (sheet.words.marks.implicit) (close) }
                        @if !found.is_empty() { " " span.found { "→ " strong { (found) } } }
                        @else if one.ok.is_none() && !one.why.is_empty() { " → " (sheet.stored(&one.why)) }
                    }
                }
                @if broken > most { li { (result_mark(sheet, reported[most])) " " (more(broken - most)) } }
                @let others = reported.len() - broken.max(most).min(reported.len());
                @if others > 0 { li { (more(others)) } }
            }
        }
        // All of them have the same state as the first: they passed, within the known part of the
        // run.
        @if let Some(first) = held.first() {
            p.aside { (result_mark(sheet, first)) " · " (added(sheet, &held)) }
        }
    }
}

fn added(sheet: &PageContext, implicit: &[&Threshold]) -> Markup {
    html! {
        (sheet.words.front.unasked) (sheet.words.page.colon)
        @for (number, one) in implicit.iter().enumerate() {
            @if number > 0 { (sheet.words.page.comma) }
            (outside_code(&one.expr))
        }
    }
}

fn host(sheet: &PageContext) -> Markup {
    let words = &sheet.words.front;
    let environment = sheet.source.environment.filter(|environment| !environment.host.cpus.is_empty());
    let Some(environment) = environment else { return lab(sheet) };
    let host = &environment.host;
    let cpus = (words.cpus)(&host.cpus.len().to_string());
    let memory = (words.memory_free)(&show_size(host.memory_available_bytes).replace(' ', "\u{a0}"));
    let (comma, (open, close)) = (sheet.words.page.comma, sheet.words.page.brackets);
    html! {
        (words.generator_host) (sheet.words.page.colon) (isolate_untrusted(&host.hostname)) (comma) (cpus)
        @if !host.cpu_model.is_empty() { (open) (isolate_untrusted(&host.cpu_model)) (close) }
        (comma) (memory)
        @let lab = lab(sheet);
        @if !lab.0.is_empty() { br; (lab) }
    }
}

/// The hosts of the lab with their roles: all of them share the machine above.
fn lab(sheet: &PageContext) -> Markup {
    let (record, language) = (sheet.record(), sheet.language());
    let known = sheet.source.environment.and_then(|environment| environment.lab.as_ref());
    let hosts: Vec<(&str, &str)> = match known {
        Some(lab) => lab.hosts.iter().map(|host| (host.name.as_str(), host.role.as_str())).collect(),
        None => record.hosts.iter().map(|host| (host.name.as_str(), host.role.as_str())).collect(),
    };
    let (comma, (open, close)) = (sheet.words.page.comma, sheet.words.page.brackets);
    html! {
        @if !hosts.is_empty() {
            (HOSTS_TITLE.in_language(language)) (sheet.words.page.colon)
            @for (number, (name, role)) in hosts.iter().take(LAB_HOSTS_MAX).enumerate() {
                @if number > 0 { (comma) }
                (isolate_untrusted(name))
                @if let Some((_, role)) = known_role(role) { (open) (role.in_language(language)) (close) }
            }
            @if hosts.len() > LAB_HOSTS_MAX { (comma) "+" (hosts.len() - LAB_HOSTS_MAX) }
        }
    }
}
