//! The checks and faults of the hooks around the load.

use wavetank_record::{HookDoc, RunRecord};

use super::model::Section;
use super::page_text::PageText::{self, Shared};
use super::table::{Column, Table};
use super::value::{Sign, Value};

/// A check, or the fault of a step.
struct Hook {
    name: String,
    ok: bool,
    found: Value,
}

type Col = Column<Hook>;

const COLUMNS: [Col; 3] = [
    Col::text("check", Shared(|w| w.columns.name), |hook| Value::Name(hook.name.clone())),
    Col::text("result", Shared(|w| w.columns.result), |hook| {
        if hook.ok {
            Value::Marked(Sign::Good, "pass", Shared(|w| w.marks.held))
        } else {
            Value::Marked(Sign::Bad, "fail", Shared(|w| w.marks.broken))
        }
    }),
    Col::text("found", Shared(|w| w.columns.found), |hook| hook.found.clone()),
];

/// The hooks before the load and those after it.
pub(crate) fn hooks(record: &RunRecord) -> [Section; 2] {
    [
        hook("before", "Before the load", Shared(|w| w.journeys.before), record.before.as_ref()),
        hook("after", "After the load", Shared(|w| w.journeys.after), record.after.as_ref()),
    ]
}

fn hook(label: &'static str, heading: &'static str, title: PageText, hook: Option<&HookDoc>) -> Section {
    let (faults, checks) = hook.map(|hook| (&hook.faults[..], &hook.checks[..])).unwrap_or_default();
    let faults = faults.iter().map(|fault| Hook {
        name: fault.step.clone(),
        ok: false,
        found: Value::stored([fault.what.to_string()]),
    });
    let checks = checks.iter().map(|check| Hook {
        name: format!("{}: {}", check.step, check.name),
        ok: check.ok,
        found: Value::Name(check.found.to_string()),
    });
    let rows: Vec<Hook> = faults.chain(checks).collect();
    // Hooks before the load that passed are of no interest after it.
    let shown = rows.iter().filter(|row| label == "after" || !row.ok);
    let entry = |row: &Hook| match &row.found {
        _ if row.ok => ("pass", row.name.clone()),
        Value::Stored(what) => ("fail", format!("{}: {}", row.name, what.concat())),
        found => ("fail", format!("{}: found {}", row.name, found.plain())),
    };
    let section = Section::of_table(heading, Table::new("", &COLUMNS, &rows));
    Section { label, title, terminal_entries: shown.map(entry).collect(), ..section }
}
