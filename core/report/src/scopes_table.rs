//! Tables of phases, scenarios, steps and groups, each only if there is more than one of them.

use wavetank_record::{GroupDoc, RunRecord, StepDoc, Times};
use wavetank_units::quantity::{format_grouped, show_rate};

use crate::format::{self, count_with_share};
use crate::text_layout::{COLUMNS_MAX, TextLayout, pad, pad_left, width};

/// Columns of one cell.
const CELL_COLUMNS: usize = 10;
/// The last cell holds a count with its share.
const FAILED_COLUMNS: usize = 16;
/// Replaces the end of a name that is too long.
const CUT: char = '…';

/// One row: a name and its cells; the failures are a separate cell.
struct Row {
    name: String,
    cells: Vec<String>,
    failed: (u64, u64),
}

/// Adds the tables.
pub(crate) fn add_scopes(page: &mut TextLayout, record: &RunRecord) {
    if record.phases.len() > 1 {
        let rows = record.phases.iter().map(|phase| {
            let counts = [show_rate(phase.rate.done_per_s.0), format_grouped(phase.requests.done)];
            row(&phase.name, counts, &phase.response_us, (phase.requests.failed, phase.requests.offered))
        });
        add_table(page, "phases", ["done/s", "done"], rows.collect());
    }
    if record.scenarios.len() > 1 {
        let rows = record.scenarios.iter().map(|scenario| {
            let sessions = scenario.sessions.unwrap_or_default().done;
            let counts = [format_grouped(sessions), format_grouped(scenario.requests.done)];
            let requests = scenario.requests;
            row(&scenario.name, counts, &scenario.response_us, (requests.failed, requests.offered))
        });
        add_table(page, "scenarios", ["sessions", "done"], rows.collect());
    }
    if record.steps.len() > 1 || !record.groups.is_empty() {
        let several = record.scenarios.len() > 1;
        let mut rows = Vec::new();
        for (number, step) in record.steps.iter().enumerate() {
            let ends = record.steps.get(number + 1).is_none_or(|next| next.scenario != step.scenario);
            rows.push(step_row(step, several));
            let own = |group: &&GroupDoc| ends && group.scenario == step.scenario;
            rows.extend(record.groups.iter().filter(own).map(|group| group_row(group, several)));
        }
        add_table(page, "steps", ["sent", "done"], rows);
    }
}

fn step_row(step: &StepDoc, several: bool) -> Row {
    let counts = [format_grouped(step.requests.sent), format_grouped(step.requests.done)];
    let name = in_scenario(&step.scenario, &step.name, several);
    row(&name, counts, &step.response_us, (step.requests.failed, step.requests.offered))
}

fn group_row(group: &GroupDoc, several: bool) -> Row {
    let name = format!("{} (group)", in_scenario(&group.scenario, &group.name, several));
    row(&name, [String::new(), format_grouped(group.time_us.count)], &group.time_us, (0, 0))
}

/// `buyer: GET /cart` where there are several scenarios.
fn in_scenario(scenario: &str, name: &str, several: bool) -> String {
    if several && !scenario.is_empty() { format!("{scenario}: {name}") } else { name.to_owned() }
}

fn row(name: &str, counts: [String; 2], times: &Times, failed: (u64, u64)) -> Row {
    let spread = times.spread.as_ref();
    let percentile = |field| spread.map(|spread| format::percentile(spread, field)).unwrap_or_default();
    let cells = counts.into_iter().chain(["p50", "p95", "p99"].map(percentile)).collect();
    Row { name: name.to_owned(), cells, failed }
}

fn add_table(page: &mut TextLayout, label: &str, counts: [&str; 2], rows: Vec<Row>) {
    let headings = counts.into_iter().chain(["p50", "p95", "p99"]).map(str::to_owned);
    let failing = rows.iter().any(|row| row.failed.0 > 0);
    let last = |text: &str| if failing { pad_left(text, FAILED_COLUMNS) } else { String::new() };
    let cells = |cells: &[String]| cells.iter().map(|cell| pad_left(cell, CELL_COLUMNS)).collect::<String>();
    let headings = cells(&headings.collect::<Vec<_>>()) + &last("failed");
    let names = COLUMNS_MAX - width(&headings);
    page.line(&(pad(label, names) + &headings));
    for row in rows {
        let failed =
            if row.failed.0 > 0 { count_with_share(row.failed.0, row.failed.1) } else { String::new() };
        let name = format!("  {}", row.name);
        page.line(&(pad(&cut(&name, names), names) + &cells(&row.cells) + &last(&failed)));
    }
}

/// `name` in at most `columns` columns.
fn cut(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_owned();
    }
    name.chars().take(columns - 1).chain([CUT]).collect()
}
