//! Phases, scenarios, steps and groups, each with its counts and times.

use maud::{Markup, PreEscaped, html};
use wavetank_measure::StepTimeSeries;
use wavetank_record::{PhaseDoc, Requests, StepDoc, Times};
use wavetank_units::quantity::{format_grouped, show_request_rate, show_share};

use super::Section;
use super::page_context::PageContext;
use super::table::{Cell, Table};
use super::times::left_out;
use crate::chart::spark;
use crate::format;
use crate::load_text::load_of_phase;

/// The percentiles shown, by field name and heading.
const SHOWN: [(&str, &str); 3] = [("p50", "p50"), ("p95", "p95"), ("p99", "p99")];

/// Most columns of a sparkline; a time series has no more.
const COLUMNS_MAX: usize = wavetank_measure::TimeSeries::COLUMNS_MAX;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let reported = left_out(sheet).collect::<Vec<_>>().join(words.page.sentence_gap);
    let has_parts = record.phases.len() > 1 || record.scenarios.len() > 1 || record.steps.len() > 1;
    let body = html! {
        @if has_parts && !reported.is_empty() { p.aside { (reported) } }
        @if record.phases.len() > 1 { h3 { (words.journeys.phases) } (phases(sheet, words.journeys.phases)) }
        @if record.scenarios.len() > 1 { h3 { (words.journeys.scenarios) } (scenarios(sheet)) }
        @if record.steps.len() > 1 || !record.groups.is_empty() {
            h3 { (words.journeys.steps) }
            (steps(sheet))
        }
        @if !record.groups.is_empty() { h3 { (words.journeys.groups) } (groups(sheet)) }
    };
    Section::new("parts", words.titles.scopes, words.leads.scopes, body)
}

/// The judged phases with their planned load, in a table called `caption`.
pub(crate) fn phases(sheet: &PageContext, caption: &str) -> Markup {
    let (words, columns) = (sheet.words, &sheet.words.columns);
    let mut heads = vec![
        (columns.phase, false),
        (words.front.load, false),
        (columns.from, true),
        (columns.length, true),
        (columns.done_per_s, true),
    ];
    heads.extend(ends(sheet));
    let mut table = Table::new(caption, &heads);
    for phase in &sheet.record().phases {
        let load = sheet.source.plan.and_then(|plan| {
            let planned = plan.phases.iter().find(|own| own.name == phase.name);
            planned.map(|planned| load_of_phase(plan, planned))
        });
        let mut cells = vec![
            Cell::Name(phase.name.clone()),
            Cell::Any(sheet.stored(&load.unwrap_or_default())),
            Cell::Number(format::seconds(phase.start_s)),
            Cell::Number(format::seconds(phase.duration_s)),
            Cell::Number(show_request_rate(phase.rate.done_per_s.0)),
        ];
        cells.extend(end_cells(sheet, phase.requests, &phase.response_us));
        table.row(cells);
    }
    // If everything was done in time there is nothing to explain.
    let late =
        |phase: &PhaseDoc| phase.requests.done as f64 > phase.rate.done_per_s.0 * phase.duration_s.0 + 0.5;
    html! {
        (table.render(sheet))
        @if sheet.record().phases.iter().any(late) { p.aside { (words.leads.phase_rate) } }
    }
}

fn scenarios(sheet: &PageContext) -> Markup {
    let words = sheet.words;
    let mut heads = vec![(words.columns.scenario, false), (words.journeys.sessions_done, true)];
    heads.extend(ends(sheet));
    let mut table = Table::new(words.journeys.scenarios, &heads);
    for scenario in &sheet.record().scenarios {
        let sessions = scenario.sessions.map(|sessions| format_grouped(sessions.done)).unwrap_or_default();
        let mut cells = vec![Cell::Name(scenario.name.clone()), Cell::Number(sessions)];
        cells.extend(end_cells(sheet, scenario.requests, &scenario.response_us));
        table.row(cells);
    }
    table.render(sheet)
}

fn steps(sheet: &PageContext) -> Markup {
    let (record, words) = (sheet.record(), sheet.words);
    let several = record.scenarios.len() > 1;
    let mut heads = vec![(words.columns.step, false)];
    heads.extend(several.then_some((words.columns.scenario, false)));
    heads.push((words.counts.sent, true));
    heads.extend(ends(sheet));
    heads.push((words.charts.p99_over_time, false));
    heads.push((words.counts.errors, false));
    let mut table = Table::new(words.journeys.steps, &heads);
    let sparks: Vec<_> = record.steps.iter().map(|step| spark_of(sheet, step)).collect();
    // Without a time series nothing is known of any step, and the column is left out.
    let none = if sparks.iter().any(Option::is_some) { "–" } else { "" };
    for (step, own) in record.steps.iter().zip(sparks) {
        let mut cells = vec![Cell::Name(step.name.clone())];
        cells.extend(several.then(|| Cell::Name(step.scenario.clone())));
        cells.push(Cell::Number(format_grouped(step.requests.sent)));
        cells.extend(end_cells(sheet, step.requests, &step.response_us));
        cells.push(Cell::Any(html! { (PreEscaped(own.as_deref().unwrap_or(none))) }));
        cells.push(Cell::Name(errors(step)));
        table.row(cells);
    }
    table.render(sheet)
}

/// The step's p99 over time as a sparkline; `None` without a time series of any step.
fn spark_of(sheet: &PageContext, step: &StepDoc) -> Option<String> {
    let (plan, course) = (sheet.source.plan?, sheet.source.course?);
    let scenario = plan.scenarios.iter().position(|own| own.name == step.scenario)?;
    let index = plan.scenarios[scenario].steps.iter().position(|own| own.name == step.name)?;
    let is = |own: &&StepTimeSeries| (usize::from(own.scenario), usize::from(own.step)) == (scenario, index);
    let own = course.steps.iter().find(is)?;
    let first = course.judged().first()?.from.0;
    let last = course.judged().last()?.end().0;
    let length = course.step_column.0.max(1);
    let mut values = vec![None; usize::try_from((last - first).max(0) / length + 1).ok()?.min(COLUMNS_MAX)];
    for column in &own.columns {
        let place = usize::try_from((column.from.0 - first).max(0) / length).ok()?;
        if let Some(value) = values.get_mut(place) {
            *value = column.p99.map(|ns| ns as f64);
        }
    }
    let is_known = values.iter().any(Option::is_some);
    (is_known && values.len() > 1).then(|| spark(&values, ""))
}

fn errors(step: &StepDoc) -> String {
    let mut counts: Vec<_> = step.errors.iter().filter(|&(_, &n)| n > 0).collect();
    counts.sort_by_key(|&(name, &n)| (std::cmp::Reverse(n), name));
    let each = counts.into_iter().map(|(name, &n)| format!("{name} {}", format_grouped(n)));
    each.collect::<Vec<_>>().join(", ")
}

fn groups(sheet: &PageContext) -> Markup {
    let words = sheet.words;
    let mut heads =
        vec![(words.columns.name, false), (words.columns.scenario, false), (words.columns.samples, true)];
    heads.extend(SHOWN.iter().map(|&(_, heading)| (heading, true)));
    let mut table = Table::new(words.journeys.groups, &heads);
    for group in &sheet.record().groups {
        let mut cells = vec![
            Cell::Name(group.name.clone()),
            Cell::Name(group.scenario.clone()),
            Cell::Number(format_grouped(group.time_us.count)),
        ];
        cells.extend(percentiles(sheet, &group.time_us));
        table.row(cells);
    }
    table.render(sheet)
}

/// The last headings of all these tables.
fn ends(sheet: &PageContext) -> Vec<(&'static str, bool)> {
    let words = &sheet.words.counts;
    let mut heads = vec![(words.done, true), (words.failed, true)];
    heads.extend(SHOWN.iter().map(|&(_, heading)| (heading, true)));
    heads
}

fn end_cells(sheet: &PageContext, requests: Requests, times: &Times) -> Vec<Cell> {
    let failed = match requests.failed {
        0 => "0".to_owned(),
        n => format!("{} ({})", format_grouped(n), show_share(n as f64 / requests.offered.max(1) as f64)),
    };
    let mut cells = vec![Cell::Number(format_grouped(requests.done)), Cell::Number(failed)];
    cells.extend(percentiles(sheet, times));
    cells
}

fn percentiles(sheet: &PageContext, times: &Times) -> Vec<Cell> {
    let value = |field: &str| times.spread.as_ref().map(|spread| sheet.percentile(spread, field));
    SHOWN.iter().map(|(field, _)| Cell::Number(value(field).unwrap_or_else(|| "–".to_owned()))).collect()
}
