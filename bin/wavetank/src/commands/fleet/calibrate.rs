//! `wavetank fleet calibrate`.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wavetank_ssh::HostRun;
use wavetank_units::quantity::format_grouped;
use wavetank_units::{ExitCode, Nanos, UserError, sanitize};

use super::agent_hosts::{AgentHosts, failure};
use crate::cli::{FileFormat, FleetCalibrateArgs};
use crate::output;

/// Time for a calibration, which takes a minute.
const CALIBRATE_MAX: Nanos = Nanos::from_secs(180);

/// Calibrates the selected load hosts, all at the same time. Their agents use the result for the
/// next run. Exit 0 if it succeeded everywhere, else 1.
pub(super) fn calibrate(args: &FleetCalibrateArgs) -> Result<u8, UserError> {
    let FleetCalibrateArgs { agents, quick } = args;
    let hosts = AgentHosts::read(&agents.hosts, &agents.ssh, &agents.folder.dir)?;
    let quick = if *quick { " --quick" } else { "" };
    let script = format!(
        "[ -x \"$d/wavetank\" ] || {{ echo 'no agent is installed' >&2; exit 3; }}\n\
         \"$d/wavetank\" calibrate{quick} --quiet --format json --out \"$d/calibration.json\""
    );
    let runs = hosts.run_on_all(&script, CALIBRATE_MAX);
    let rows: Vec<(&str, Result<f64, String>)> =
        hosts.hosts.iter().zip(&runs).map(|(host, run)| (host.name.as_str(), measured(run))).collect();
    let is_ok = rows.iter().all(|(_, row)| row.is_ok());
    let text = match agents.format {
        FileFormat::Json => {
            let hosts: Vec<Value> = rows.iter().map(json_row).collect();
            format!("{}\n", json!({"schema": "wavetank.fleet_calibrate/1", "ok": is_ok, "hosts": hosts}))
        }
        FileFormat::Text => table(&rows),
    };
    output::print(&text)?;
    Ok((if is_ok { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

/// Returns the requests per second that a host can send in the open loop.
fn measured(run: &HostRun) -> Result<f64, String> {
    if let Some(reason) = failure(run) {
        return Err(reason);
    }
    let text = run.stdout.find('{').map_or("", |start| &run.stdout[start..]);
    let doc: Value = serde_json::from_str(text).unwrap_or_default();
    let last = doc["calibrations"].as_array().and_then(|all| all.last());
    last.and_then(|one| one["open_per_s"].as_f64())
        .ok_or_else(|| "it did not print its calibration".to_owned())
}

fn json_row((host, row): &(&str, Result<f64, String>)) -> Value {
    match row {
        Ok(rate) => json!({"host": host, "open_per_s": rate, "reason": null}),
        Err(reason) => json!({"host": host, "open_per_s": null, "reason": reason}),
    }
}

fn table(rows: &[(&str, Result<f64, String>)]) -> String {
    let width = rows.iter().map(|(host, _)| host.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (host, row) in rows {
        let text = match row {
            Ok(rate) => format!("{} req/s", format_grouped(*rate as u64)),
            Err(reason) => format!("failed: {}", sanitize(reason)),
        };
        let _ = writeln!(out, "{host:width$}  {text}");
    }
    out
}
