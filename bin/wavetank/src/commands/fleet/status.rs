//! `wavetank fleet status`.

use serde_json::{Value, json};
use wavetank_runner::SpoolsDoc;
use wavetank_units::quantity::format_grouped;
use wavetank_units::{ExitCode, Nanos, UserError, sanitize};

use super::agent_hosts::{AgentGreeting, AgentHosts, failure, greeting_in};
use crate::cli::{FileFormat, FleetAgentArgs};
use crate::output;

/// Time for a look at an agent.
const LOOK_MAX: Nanos = Nanos::from_secs(30);
const SCRIPT: &str = "[ -x \"$d/wavetank\" ] || { echo 'no agent is installed' >&2; exit 3; }\n\
    \"$d/wavetank\" agent hello --dir \"$d\" || exit\n\
    \"$d/wavetank\" agent spool list --dir \"$d\" 2>/dev/null || exit 0";
const COLUMNS: [&str; 9] =
    ["host", "agent", "version", "state", "cores", "files", "ports", "calibration", "unsettled"];

/// Shows the agents of the selected load hosts. Exit 0 if all of them have one, else 1.
pub(super) fn status(args: &FleetAgentArgs) -> Result<u8, UserError> {
    let hosts = AgentHosts::read(&args.hosts, &args.ssh, &args.folder.dir)?;
    let runs = hosts.run_on_all(SCRIPT, LOOK_MAX);
    let rows: Vec<StatusRow> = hosts
        .hosts
        .iter()
        .zip(&runs)
        .map(|(host, run)| {
            let agent = match (failure(run), greeting_in(&run.stdout)) {
                (Some(reason), _) => Err(reason),
                (None, Some(agent)) => Ok(agent),
                (None, None) => Err("the agent does not answer".to_owned()),
            };
            StatusRow { host: host.name.clone(), agent, unsettled: unsettled(&run.stdout) }
        })
        .collect();
    let is_ok = rows.iter().all(|row| row.agent.is_ok());
    let text = match args.format {
        FileFormat::Json => {
            let hosts: Vec<_> = rows.iter().map(StatusRow::json).collect();
            format!("{}\n", json!({"schema": "wavetank.fleet_status/1", "ok": is_ok, "hosts": hosts}))
        }
        FileFormat::Text => table(&rows),
    };
    output::print(&text)?;
    Ok((if is_ok { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

/// The agent of one host, or why there is none.
struct StatusRow {
    host: String,
    agent: Result<AgentGreeting, String>,
    /// Runs of which it keeps intervals, apart from one in progress; `None`: unknown.
    unsettled: Option<usize>,
}

/// Returns the number of unsettled runs in the output of a host.
fn unsettled(output: &str) -> Option<usize> {
    Some(SpoolsDoc::from_output(output)?.spools.iter().filter(|spool| !spool.running).count())
}

impl StatusRow {
    fn json(&self) -> Value {
        match &self.agent {
            Err(reason) => json!({"host": self.host, "agent": null, "reason": reason}),
            Ok(AgentGreeting { run, hello }) => json!({
                "host": self.host,
                "agent": {
                    "name": hello.name, "version": hello.version, "state": hello.state.name(),
                    "run": run.0, "cores": hello.capabilities.cores, "files": hello.capabilities.files,
                    "ports": hello.capabilities.ports, "calibration": hello.capabilities.calibration,
                    "unsettled": self.unsettled,
                },
                "reason": null,
            }),
        }
    }

    fn cells(&self) -> Vec<String> {
        let Ok(AgentGreeting { hello, .. }) = &self.agent else { return vec![self.host.clone()] };
        let can = hello.capabilities;
        let calibration = can.calibration.map(|rate| format!("{}/s", format_grouped(rate)));
        vec![
            self.host.clone(),
            sanitize(&hello.name).to_string(),
            sanitize(&hello.version).to_string(),
            hello.state.name().to_owned(),
            can.cores.to_string(),
            format_grouped(can.files),
            format_grouped(can.ports),
            calibration.unwrap_or_else(|| "-".to_owned()),
            self.unsettled.map_or_else(|| "-".to_owned(), |count| count.to_string()),
        ]
    }
}

/// Returns a line for each host. A reason takes the place of the columns after the host.
fn table(rows: &[StatusRow]) -> String {
    let head: Vec<String> = COLUMNS.map(str::to_owned).to_vec();
    let cells: Vec<Vec<String>> = std::iter::once(head).chain(rows.iter().map(StatusRow::cells)).collect();
    let width = |column: usize| {
        cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let reasons = std::iter::once(None).chain(rows.iter().map(|row| row.agent.as_ref().err()));
    cells
        .iter()
        .zip(reasons)
        .map(|(row, reason)| {
            let mut line: Vec<String> =
                row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            line.extend(reason.map(|reason| sanitize(reason).to_string()));
            line.join("  ").trim_end().to_owned() + "\n"
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use wavetank_fleet::{AgentSetup, AgentState, RunId};

    use super::*;

    #[test]
    fn a_reason_takes_the_place_of_the_columns() {
        let hello = AgentSetup::local("0.1.0").identity.hello(AgentState::Idle);
        let rows = [
            StatusRow {
                host: "load1".to_owned(),
                agent: Ok(AgentGreeting { run: RunId::NONE, hello }),
                unsettled: Some(2),
            },
            StatusRow { host: "b".to_owned(), agent: Err("unreachable: no".to_owned()), unsettled: None },
        ];
        let expected = "host   agent  version  state  cores  files  ports  calibration  unsettled\n\
            load1  local  0.1.0    idle   1      0      0      -            2\n\
            b      unreachable: no\n";
        assert_eq!(table(&rows), expected);
        assert_eq!(rows[1].json()["reason"], "unreachable: no");
    }
}
