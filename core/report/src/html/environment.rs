//! The environment of the run, and its events.

use maud::{Markup, html};
use wavetank_record::{EnvironmentDoc, Probe};
use wavetank_units::quantity::{format_grouped, show_size};

use super::Section;
use super::page_context::{PageContext, command_line, instant, isolate_untrusted, with_nonbreaking_units};
use super::table::{Cell, Table, facts};
use crate::format;

/// Addresses of a target that are listed.
const ADDRESSES_MAX: usize = 8;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), &sheet.words.facts);
    let tags = html! {
        @for (number, (name, value)) in record.tags.iter().enumerate() {
            @if number > 0 { ", " } (isolate_untrusted(name)) "=" (isolate_untrusted(value))
        }
    };
    let some = |text: &str| html! { @if !text.is_empty() { (isolate_untrusted(text)) } };
    let body = html! {
        (facts(vec![
            (words.command, html! { @if !record.command.is_empty() { (command_line(&record.command)) } }),
            (words.seed, html! { code { (record.seed) } }),
            (words.plan_hash, html! { @if !record.plan_hash.is_empty() { code.hash { (isolate_untrusted(&record.plan_hash)) } } }),
            (words.run_id, some(&record.id)),
            (words.version, some(&record.version)),
            (words.started, some(&record.started_at)),
            (words.window, html! { (format::seconds(record.duration_s)) }),
            (words.tags, tags),
            (words.probe, record.probe.as_ref().map(|probe| first_request(sheet, probe)).unwrap_or_default()),
        ]))
        // In the closed loop, and with held connections, requests follow responses.
        @if record.load.model == "open" { p.aside { (words.repeat_hint) } }
        @if let Some(environment) = sheet.source.environment { (host(sheet, environment)) }
        (plan(sheet))
    };
    Section::new("environment", sheet.words.titles.environment, sheet.words.leads.environment, body)
}

fn first_request(sheet: &PageContext, probe: &Probe) -> Markup {
    html! {
        (isolate_untrusted(&format!("{} {}", probe.method, probe.path))) " → "
        @if probe.status == 0 { (sheet.words.facts.no_answer) ": " (sheet.stored(&probe.error)) }
        @else { (probe.status) ", " (show_size(probe.body_bytes)) ", " (isolate_untrusted(&probe.version)) ", " (with_nonbreaking_units(&format::time(probe.time_us))) }
    }
}

fn host(sheet: &PageContext, environment: &EnvironmentDoc) -> Markup {
    let (words, host) = (&sheet.words.facts, &environment.host);
    let some = |text: &str| html! { @if !text.is_empty() { (isolate_untrusted(text)) } };
    let (low, high) = host.port_range;
    let cpus = (sheet.words.front.cpus)(&host.cpus.len().to_string());
    html! {
        h3 { (words.host) }
        (facts(vec![
            (words.host_name, some(&host.hostname)),
            (words.kernel, some(&host.kernel)),
            (words.cpu, html! { (cpus) @if !host.cpu_model.is_empty() { (sheet.words.page.comma) (isolate_untrusted(&host.cpu_model)) } }),
            (words.memory, html! { (show_size(host.memory_available_bytes)) }),
            (words.files, html! { (format_grouped(host.files_max)) }),
            (words.ports, html! { (low) "–" (high) }),
            (words.addresses, some(&host.addresses.join(", "))),
            (words.engine_why, environment.engine_why.as_deref().map(|why| sheet.stored(why)).unwrap_or_default()),
        ]))
    }
}

/// The parts of the plan that are shown nowhere else.
fn plan(sheet: &PageContext) -> Markup {
    let (Some(plan), words) = (sheet.source.plan, &sheet.words.facts) else { return html! {} };
    let mut table = Table::new(
        words.targets,
        &[(sheet.words.columns.name, false), ("URL", false), (words.addresses, false)],
    );
    for target in &plan.targets {
        let mut addresses: Vec<_> =
            target.addresses.iter().take(ADDRESSES_MAX).map(ToString::to_string).collect();
        if target.addresses.len() > ADDRESSES_MAX {
            addresses.push(format!("+{}", target.addresses.len() - ADDRESSES_MAX));
        }
        table.row([target.name.clone(), target.url.clone(), addresses.join(", ")].map(Cell::Name).into());
    }
    let sources = plan.sources.ranges.iter().map(|range| format!("{} – {}", range.first, range.last));
    let sources = sources.collect::<Vec<_>>().join(", ");
    let timeouts = [plan.http.timeout, plan.http.connect_timeout, plan.drain].map(|time| time.to_string());
    let timeouts = (words.timeouts)(timeouts.each_ref().map(String::as_str));
    html! {
        h3 { (words.targets) }
        (table.render(sheet))
        (facts(vec![
            (words.sources, html! { @if !sources.is_empty() { (isolate_untrusted(&sources)) } }),
            (words.timeout, html! { (timeouts) }),
        ]))
    }
}

/// The events of the run.
pub(crate) fn events(sheet: &PageContext) -> Option<Section> {
    let (words, columns) = (sheet.words, &sheet.words.columns);
    let mut table = Table::new(words.titles.events, &[(columns.at, true), (columns.event, false)]);
    for event in &sheet.record().events {
        table.row(vec![Cell::Number(instant(event.at_ns)), Cell::Any(sheet.stored(&event.text))]);
    }
    Section::new("events", words.titles.events, words.leads.events, table.render(sheet))
}
