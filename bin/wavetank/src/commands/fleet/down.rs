//! `wavetank fleet down`.

use std::path::Path;

use serde_json::json;
use wavetank_units::{ExitCode, Nanos, UserError, shell_quoted};

use super::agent_hosts::{AgentHosts, HostScript, failure};
use super::agent_rows::{AgentRow, table};
use super::broker_folder::{BrokerFolder, broker_dir};
use super::broker_keeper::BrokerKeeper;
use crate::cli::{FileFormat, FleetAgentArgs, FleetUpArgs, HostArgs};
use crate::output;

/// Time for the end of an agent, which it is given there.
const STOP_MAX: Nanos = Nanos::from_secs(60);

/// Ends the agents of the selected load hosts. Exit 0 if none of them has one any more, else 1.
pub(super) fn down(args: &FleetUpArgs) -> Result<u8, UserError> {
    let FleetUpArgs { agents: args, broker: dir } = args;
    let hosts = AgentHosts::read(&args.hosts, &args.ssh, &args.folder.dir)?;
    let script = |(host, target): (usize, &wavetank_inventory::Host)| {
        let text = format!(
            "[ -x \"$d/wavetank\" ] || {{ echo 'not running'; exit 0; }}\n\
             \"$d/wavetank\" agent stop --dir \"$d\" --name {}",
            shell_quoted(&target.name)
        );
        HostScript { host, text, input: None, time_limit: Some(STOP_MAX) }
    };
    let scripts = hosts.hosts.iter().enumerate().map(script).collect();
    let runs = hosts.run(scripts, None, &mut |_| {});
    let rows: Vec<AgentRow> = runs
        .iter()
        .map(|(host, run)| {
            let name = &hosts.hosts[*host].name;
            match failure(run) {
                Some(reason) => AgentRow::failed(name, reason),
                None if run.stdout.lines().any(|line| line == "stopped") => AgentRow::new(name, "stopped"),
                None => AgentRow::new(name, "not_running"),
            }
        })
        .collect();
    end_broker(args, &hosts, dir.as_deref())?;
    let is_ok = !rows.iter().any(AgentRow::is_failed);
    let text = match args.format {
        FileFormat::Json => {
            let hosts: Vec<_> = rows.iter().map(AgentRow::json).collect();
            format!("{}\n", json!({"schema": "wavetank.fleet_down/1", "ok": is_ok, "hosts": hosts}))
        }
        FileFormat::Text => table(&rows),
    };
    output::print(&text)?;
    Ok((if is_ok { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

/// Ends the broker that `fleet up` started, unless agents were left out.
fn end_broker(args: &FleetAgentArgs, hosts: &AgentHosts, dir: Option<&Path>) -> Result<(), UserError> {
    let HostArgs { hosts: only, exclude, group, .. } = &args.hosts;
    let is_whole = only.is_empty() && exclude.is_empty() && group.is_empty();
    let named = hosts.fleet.as_ref().zip(args.hosts.fleet.as_deref()).filter(|_| is_whole);
    let Some((fleet, file)) = named else { return Ok(()) };
    if !broker_dir(dir, file).is_dir() {
        return Ok(());
    }
    match BrokerFolder::read(fleet, dir, file)? {
        Some(broker) if broker.ports().is_some() => {
            let ssh_config = args.ssh.ssh_config.as_ref();
            BrokerKeeper { broker: &broker, fleet: file, ssh_config }.end()
        }
        _ => Ok(()),
    }
}
