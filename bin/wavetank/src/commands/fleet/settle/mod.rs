//! `wavetank fleet settle`: what agents kept is added to the archives of their runs.

mod spool_hosts;

use std::io::Write as _;

use serde_json::{Value, json};
use wavetank_runner::{SettledRuns, Settlement};
use wavetank_store::RunsDir;
use wavetank_units::{ExitCode, UserError, sanitize};

use self::spool_hosts::SelectedHosts;
use super::agent_rows::{AgentRow, table};
use crate::cli::{FileFormat, FleetSettleArgs};
use crate::output;

/// Settles a run, or all runs that the selected hosts keep intervals of. Exit 0 if the archives
/// then have all intervals of all agents, else 1.
pub(super) fn settle(args: &FleetSettleArgs) -> Result<u8, UserError> {
    let runs = RunsDir::new(&args.runs_dir);
    let settled = wavetank_runner::settle(&runs, args.run.as_deref(), || SelectedHosts::read(args))?;
    let SettledRuns { settlements, notes, is_complete } = settled;
    let format = args.agents.format;
    let text = match format {
        FileFormat::Json => {
            let runs: Vec<_> = settlements.iter().map(run_json).collect();
            let doc =
                json!({"schema": "wavetank.fleet_settle/1", "ok": is_complete, "runs": runs, "notes": notes});
            format!("{doc}\n")
        }
        FileFormat::Text => settlements.iter().map(run_text).collect::<Vec<_>>().join("\n"),
    };
    output::print(&text)?;
    if format == FileFormat::Text {
        let nothing = settlements.is_empty() && notes.is_empty();
        let nothing = nothing.then(|| "the agents keep no intervals of unsettled runs".to_owned());
        for note in notes.into_iter().chain(nothing) {
            // Without stderr the exit code is left.
            let _ = writeln!(std::io::stderr(), "{}", sanitize(&note));
        }
    }
    Ok((if is_complete { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

fn rows(run: &Settlement) -> Vec<AgentRow> {
    let row = |(host, state): &(String, Result<&'static str, String>)| match state {
        Ok(state) => AgentRow::new(host, state),
        Err(reason) => AgentRow::failed(host, reason),
    };
    run.agents.iter().map(row).collect()
}

fn run_json(run: &Settlement) -> Value {
    json!({
        "run": run.run,
        "number": run.number,
        "ok": run.is_complete(),
        "added": run.added,
        "status": run.record.fleet.as_ref().map(|fleet| fleet.status.name()),
        "verdict": run.record.verdict.status.name(),
        "hosts": rows(run).iter().map(AgentRow::json).collect::<Vec<_>>(),
    })
}

fn run_text(run: &Settlement) -> String {
    let intervals = if run.added == 1 { "interval" } else { "intervals" };
    let line = wavetank_report::oneline(&run.record);
    format!("{}: {} {intervals} added\n{}{}\n", run.run, run.added, table(&rows(run)), line.trim_end())
}
