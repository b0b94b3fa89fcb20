//! The agents of a fleet as a Markdown table.

use wavetank_record::{AgentDoc, Number, RunRecord};
use wavetank_units::quantity::{format_grouped, show_size};

use super::markdown::{ROWS_MAX, cut, name};
use super::markdown_text::table;
use crate::fleet::{agent_lack, rebalanced, share, start};
use crate::format::{seconds, time};

/// Number of text columns at the start of the table.
const TEXTS: usize = 2;
/// The columns of the table.
const COLUMNS: [&str; 11] = [
    "agent",
    "missing",
    "share",
    "weight",
    "cores",
    "sent",
    "intervals",
    "not stored",
    "clock ±",
    "CPU time",
    "memory peak",
];

/// A line about the fleet, and a table of its agents; empty columns are left out. Empty on a single
/// host.
pub(super) fn agents(record: &RunRecord) -> String {
    let Some(fleet) = &record.fleet else { return String::new() };
    let rows: Vec<_> = fleet.agents.iter().take(ROWS_MAX).map(agent).collect();
    let is_reported = |column: &usize| rows.iter().any(|row| !row[*column].is_empty());
    let reported: Vec<usize> = (0..COLUMNS.len()).filter(is_reported).collect();
    let headings: Vec<_> = reported.iter().map(|column| COLUMNS[*column]).collect();
    let numbers = reported.iter().filter(|column| **column >= TEXTS).count();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| reported.iter().map(|column| row[*column].clone()).collect()).collect();
    let status = fleet.status.name().replace('_', " ");
    let parts = [status, start(fleet), name(&rebalanced(fleet))];
    let line: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{}\n\n{}", line.join(" · "), cut(table(&headings, numbers, &rows), fleet.agents.len()))
}

fn agent(agent: &AgentDoc) -> [String; COLUMNS.len()] {
    let some = |count: u64| if count == 0 { String::new() } else { format_grouped(count) };
    let cpu_s = agent.cpu_user_s.0 + agent.cpu_system_s.0;
    [
        name(&agent.name),
        agent_lack(agent).map(|lack| name(&lack)).unwrap_or_default(),
        share(agent),
        some(agent.weight),
        some(u64::from(agent.cores)),
        format_grouped(agent.sent),
        format_grouped(agent.intervals),
        some(agent.unstored),
        agent.clock_uncertainty_us.map(time).unwrap_or_default(),
        if cpu_s > 0.0 { seconds(Number(cpu_s)) } else { String::new() },
        if agent.peak_rss_bytes > 0 { show_size(agent.peak_rss_bytes) } else { String::new() },
    ]
}
