//! Phases, scenarios, steps and groups, each with its counts and times.

use maud::{Markup, PreEscaped, html};
use wavetank_measure::StepTimeSeries;
use wavetank_record::{PhaseDoc, StepDoc};

use super::Section;
use super::page_context::PageContext;
use super::times::left_out;
use crate::chart::spark;
use crate::section::PageText::Own;
use crate::section::{Value, group_table, page_table, phase_table, scenario_table, step_table};

/// Most columns of a sparkline; a time series has no more.
const COLUMNS_MAX: usize = wavetank_measure::TimeSeries::COLUMNS_MAX;

pub(crate) fn section(sheet: &PageContext) -> Option<Section> {
    let (record, words) = (sheet.record(), sheet.words);
    let reported = left_out(sheet).collect::<Vec<_>>().join(words.page.sentence_gap);
    let has_parts = record.phases.len() > 1 || record.scenarios.len() > 1 || record.steps.len() > 1;
    let body = html! {
        @if has_parts && !reported.is_empty() { p.aside { (reported) } }
        @if record.phases.len() > 1 { h3 { (words.journeys.phases) } (phases(sheet, words.journeys.phases)) }
        @if record.scenarios.len() > 1 {
            h3 { (words.journeys.scenarios) }
            (page_table(&scenario_table(record), sheet, words.journeys.scenarios))
        }
        @if record.steps.len() > 1 || !record.groups.is_empty() {
            h3 { (words.journeys.steps) }
            (steps(sheet))
        }
        @if !record.groups.is_empty() {
            h3 { (words.journeys.groups) }
            (page_table(&group_table(record), sheet, words.journeys.groups))
        }
    };
    Section::new("parts", words.titles.scopes, words.leads.scopes, body)
}

/// The judged phases with their planned load, in a table called `caption`.
pub(crate) fn phases(sheet: &PageContext, caption: &str) -> Markup {
    // If everything was done in time there is nothing to explain.
    let late =
        |phase: &PhaseDoc| phase.requests.done as f64 > phase.rate.done_per_s.0 * phase.duration_s.0 + 0.5;
    html! {
        (page_table(&phase_table(sheet.record(), sheet.source.plan), sheet, caption))
        @if sheet.record().phases.iter().any(late) { p.aside { (sheet.words.leads.phase_rate) } }
    }
}

fn steps(sheet: &PageContext) -> Markup {
    let sparks: Vec<_> = sheet.record().steps.iter().map(|step| spark_of(sheet, step)).collect();
    // Without a time series nothing is known of any step, and the column is left out.
    let is_known = sparks.iter().any(Option::is_some);
    let none = || if is_known { Value::Term("", Own(["–"; 2])) } else { Value::Nothing };
    let drawings =
        sparks.into_iter().map(|spark| spark.map_or_else(none, |svg| Value::Page(PreEscaped(svg)))).collect();
    page_table(&step_table(sheet.record(), drawings), sheet, sheet.words.journeys.steps)
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
