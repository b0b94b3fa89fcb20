//! Phases, scenarios, steps and groups, each with its counts and times.

use wavetank_plan::Plan;
use wavetank_record::{GroupDoc, PhaseDoc, Requests, RunRecord, StepDoc, Times};
use wavetank_units::quantity::{show_rate, show_request_rate};

use super::model::Section;
use super::page_text::PageText::{self, Own, Shared};
use super::table::{Column, Table};
use super::value::Value;
use crate::counts::named;
use crate::format::count_with_share;
use crate::load_text::load_of_phase;

/// Width of a cell on a terminal.
const CELL: usize = 10;
/// Width of a count with its share on a terminal.
const FAILED: usize = 16;

/// A part of the load.
struct Scope<'a> {
    /// The name for tables without a column of scenarios.
    name: String,
    own_name: &'a str,
    scenario: &'a str,
    phase: Option<&'a PhaseDoc>,
    load: String,
    /// Requests sent, or sessions done.
    begun: Option<u64>,
    /// `None` for a group.
    requests: Option<Requests>,
    times: &'a Times,
    drawing: Value,
    errors: String,
}

type Col<'a> = Column<Scope<'a>>;

impl<'a> Scope<'a> {
    fn new(name: &'a str, requests: Option<Requests>, times: &'a Times) -> Self {
        Self {
            name: name.to_owned(),
            own_name: name,
            scenario: "",
            phase: None,
            load: String::new(),
            begun: None,
            requests,
            times,
            drawing: Value::Nothing,
            errors: String::new(),
        }
    }

    fn percentile(&self, field: &str) -> Value {
        Value::percentile(self.times.spread.as_ref(), field)
    }

    /// The failed requests with their share; nothing for a group.
    fn failed(&self) -> Option<String> {
        let requests = self.requests?;
        let share = || count_with_share(requests.failed, requests.offered);
        Some(if requests.failed == 0 { "0".to_owned() } else { share() })
    }
}

/// The phases, unless there is only one.
pub(crate) fn phases(record: &RunRecord) -> Section {
    Section::of_table("Phases", phase_table(record, None).if_any(record.phases.len() > 1))
}

/// The scenarios, unless there is only one.
pub(crate) fn scenarios(record: &RunRecord) -> Section {
    Section::of_table("Scenarios", scenario_table(record).if_any(record.scenarios.len() > 1))
}

/// The steps, each scenario followed by its groups, unless there is only one step.
pub(crate) fn steps(record: &RunRecord) -> Section {
    let several = record.scenarios.len() > 1;
    let mut rows = Vec::new();
    for (number, step) in record.steps.iter().enumerate() {
        let ends = record.steps.get(number + 1).is_none_or(|next| next.scenario != step.scenario);
        rows.push(step_row(step, several));
        let own = |group: &&GroupDoc| ends && group.scenario == step.scenario;
        rows.extend(record.groups.iter().filter(own).map(|group| {
            let name = format!("{} (group)", in_scenario(&group.scenario, &group.name, several));
            Scope { name, ..Scope::new(&group.name, None, &group.time_us) }
        }));
    }
    let is_shown = record.steps.len() > 1 || !record.groups.is_empty();
    Section::of_table("Steps", Table::new("steps", &step_columns(), &rows).if_any(is_shown))
}

/// The judged phases, with their loads where `plan` is known.
pub(crate) fn phase_table(record: &RunRecord, plan: Option<&Plan>) -> Table {
    let load = |phase: &PhaseDoc| {
        let plan = plan?;
        Some(load_of_phase(plan, plan.phases.iter().find(|own| own.name == phase.name)?))
    };
    let row = |phase| Scope {
        phase: Some(phase),
        load: load(phase).unwrap_or_default().into(),
        ..Scope::new(&phase.name, Some(phase.requests), &phase.response_us)
    };
    let rows: Vec<_> = record.phases.iter().map(row).collect();
    let mut columns: Vec<Col<'_>> = vec![
        Col::text("phase", Shared(|w| w.columns.phase), |scope| Value::Name(scope.name.clone())),
        Col::text("", Shared(|w| w.front.load), |scope| Value::stored([scope.load.clone()])),
        Col::number("", Shared(|w| w.columns.from), |scope| {
            Value::seconds(scope.phase.map(|phase| phase.start_s))
        }),
        Col::number("", Own(["Length", "时长"]), |scope| {
            Value::seconds(scope.phase.map(|phase| phase.duration_s))
        }),
        Col::number("done/s", Own(["Done/s", "成功/秒"]), |scope| {
            Value::number(scope.phase.map(|phase| show_request_rate(phase.rate.done_per_s.0)))
        }),
        // A terminal has no room for the whole unit in each row.
        Col::number("", PageText::Absent, |scope| {
            Value::number(scope.phase.map(|phase| show_rate(phase.rate.done_per_s.0)))
        })
        .narrow("done/s", CELL),
    ];
    columns.extend(counts_and_times());
    Table::new("phases", &columns, &rows)
}

/// The scenarios with their sessions.
pub(crate) fn scenario_table(record: &RunRecord) -> Table {
    let rows = record.scenarios.iter().map(|scenario| Scope {
        begun: scenario.sessions.map(|sessions| sessions.done),
        ..Scope::new(&scenario.name, Some(scenario.requests), &scenario.response_us)
    });
    let rows: Vec<_> = rows.collect();
    let mut columns: Vec<Col<'_>> = vec![
        Col::text("scenario", Shared(|w| w.columns.scenario), |scope| Value::Name(scope.name.clone())),
        Col::number("sessions", Own(["Sessions done", "完成会话"]), |scope| Value::count(scope.begun))
            .narrow("sessions", CELL),
    ];
    columns.extend(counts_and_times());
    Table::new("scenarios", &columns, &rows)
}

/// The steps for a page, with a drawing for each. Groups have a table of their own there.
pub(crate) fn step_table(record: &RunRecord, drawings: Vec<Value>) -> Table {
    let several = record.scenarios.len() > 1;
    let row = |(step, drawing)| Scope { drawing, ..step_row(step, several) };
    let rows: Vec<_> = record.steps.iter().zip(drawings).map(row).collect();
    Table::new("steps", &step_columns(), &rows)
}

/// The groups for a page.
pub(crate) fn group_table(record: &RunRecord) -> Table {
    let rows = record
        .groups
        .iter()
        .map(|group| Scope { scenario: &group.scenario, ..Scope::new(&group.name, None, &group.time_us) });
    let rows: Vec<_> = rows.collect();
    let columns: [Col<'_>; 6] = [
        Col::text("", Shared(|w| w.columns.name), |scope| Value::Name(scope.name.clone())),
        Col::text("", Shared(|w| w.columns.scenario), |scope| Value::Name(scope.scenario.to_owned())),
        Col::number("", Shared(|w| w.columns.samples), |scope| Value::Count(scope.times.count)),
        Col::number("", Own(["p50"; 2]), |scope| scope.percentile("p50")),
        Col::number("", Own(["p95"; 2]), |scope| scope.percentile("p95")),
        Col::number("", Own(["p99"; 2]), |scope| scope.percentile("p99")),
    ];
    Table::new("groups", &columns, &rows)
}

fn step_row(step: &StepDoc, several: bool) -> Scope<'_> {
    Scope {
        name: in_scenario(&step.scenario, &step.name, several),
        scenario: if several { &step.scenario } else { "" },
        begun: Some(step.requests.sent),
        errors: named(&step.errors).join(", "),
        ..Scope::new(&step.name, Some(step.requests), &step.response_us)
    }
}

/// `buyer: GET /cart` where there are several scenarios.
fn in_scenario(scenario: &str, name: &str, several: bool) -> String {
    if several && !scenario.is_empty() { format!("{scenario}: {name}") } else { name.to_owned() }
}

fn step_columns<'a>() -> Vec<Col<'a>> {
    let mut columns: Vec<Col<'a>> = vec![
        Col::text("step", PageText::Absent, |scope| Value::Name(scope.name.clone())),
        Col::text("", Shared(|w| w.columns.step), |scope| Value::Name(scope.own_name.to_owned())),
        Col::text("", Shared(|w| w.columns.scenario), |scope| Value::Name(scope.scenario.to_owned())),
        Col::number("sent", Shared(|w| w.counts.sent), |scope| Value::count(scope.begun))
            .narrow("sent", CELL),
    ];
    columns.extend(counts_and_times());
    columns.extend([
        Col::text("", Own(["p99 over time", "p99 走势"]), |scope| scope.drawing.clone()),
        Col::text("", Shared(|w| w.counts.errors), |scope| Value::Name(scope.errors.clone())),
    ]);
    columns
}

/// The last columns of all tables.
fn counts_and_times<'a>() -> [Col<'a>; 7] {
    [
        Col::number("done", Shared(|w| w.counts.done), |scope| {
            Value::Count(scope.requests.map_or(scope.times.count, |requests| requests.done))
        })
        .narrow("done", CELL),
        Col::number("failed", Shared(|w| w.counts.failed), |scope| Value::number(scope.failed())),
        Col::number("p50", Own(["p50"; 2]), |scope| scope.percentile("p50")).narrow("p50", CELL),
        Col::number("p95", Own(["p95"; 2]), |scope| scope.percentile("p95")).narrow("p95", CELL),
        Col::number("p99", Own(["p99"; 2]), |scope| scope.percentile("p99")).narrow("p99", CELL),
        Col::number("max", PageText::Absent, |scope| {
            Value::time(scope.times.spread.as_ref().map(|spread| spread.max))
        }),
        // A terminal does not show zeros.
        Col::number("", PageText::Absent, |scope| {
            Value::number(scope.failed().filter(|failed| failed != "0"))
        })
        .narrow("failed", FAILED),
    ]
}
