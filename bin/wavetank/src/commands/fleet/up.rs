//! `wavetank fleet up`.

use std::io::{IsTerminal as _, Write as _};

use serde_json::json;
use wavetank_ssh::InputFile;
use wavetank_units::{ExitCode, Nanos, UserError};

use super::agent_hosts::{AgentHosts, HostScript, failure, greeting_in};
use super::agent_rows::{AgentRow, table};
use super::program_file::ProgramFile;
use super::up_plan::{UpPlan, plan};
use super::up_scripts::{copy, found_files, probe, start};
use crate::cli::{FileFormat, FleetAgentArgs};
use crate::run::output;

/// Time for a look at a host. It computes the digest of a program there.
const PROBE_MAX: Nanos = Nanos::from_secs(120);
/// Time for the end of an agent and the start of another one.
const START_MAX: Nanos = Nanos::from_secs(90);
/// Exit code after an interrupt (128 + SIGINT).
const INTERRUPTED: u8 = 130;

/// Starts an agent on each load host. Exit 0 if all of them have one, else 1.
pub(super) fn up(args: &FleetAgentArgs) -> Result<u8, UserError> {
    let hosts = AgentHosts::read(&args.hosts, &args.ssh, &args.folder.dir)?;
    let mut program = ProgramFile::read()?;
    let mut up = Up { rows: vec![None; hosts.hosts.len()], hosts };
    let plans = up.look(&mut program);
    up.copy(&program, &plans);
    up.start(&plans);
    let is_interrupted = up.hosts.is_interrupted();
    let rows: Vec<AgentRow> = up.rows.into_iter().map(|row| row.expect("every host has its end")).collect();
    let failed = rows.iter().filter(|row| row.is_failed()).count();
    let text = match args.format {
        FileFormat::Json => format!(
            "{}\n",
            json!({
                "schema": "wavetank.fleet_up/1",
                "ok": failed == 0,
                "hosts": rows.iter().map(AgentRow::json).collect::<Vec<_>>(),
            })
        ),
        FileFormat::Text => table(&rows),
    };
    output::print(&text)?;
    if args.format == FileFormat::Text {
        note(&format!("{} of {} agents up", rows.len() - failed, rows.len()));
    }
    if is_interrupted {
        return Ok(INTERRUPTED);
    }
    Ok((if failed == 0 { ExitCode::Pass } else { ExitCode::Fail }) as u8)
}

/// Writes a line to stderr. Without stderr the exit code is left.
fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The hosts, and what became of each.
struct Up {
    hosts: AgentHosts,
    /// `None`: not yet known.
    rows: Vec<Option<AgentRow>>,
}

impl Up {
    /// Looks at all hosts and returns what is to be done on those that can have an agent.
    fn look(&mut self, program: &mut ProgramFile) -> Vec<(usize, UpPlan)> {
        let script = |(host, target): (usize, &wavetank_inventory::Host)| HostScript {
            host,
            text: probe(program, &target.name),
            input: None,
            time_limit: Some(PROBE_MAX),
        };
        let scripts = self.hosts.hosts.iter().enumerate().map(script).collect();
        let mut plans = Vec::new();
        for (host, run) in self.hosts.run(scripts, None, &mut |_| {}) {
            let name = &self.hosts.hosts[host].name;
            let planned = match failure(&run) {
                Some(reason) => Err(reason),
                None => plan(name, program, &found_files(&run.stdout), greeting_in(&run.stdout).as_ref()),
            };
            match planned {
                Ok(UpPlan::Nothing) => self.rows[host] = Some(AgentRow::new(name, "already_running")),
                Ok(planned) => plans.push((host, planned)),
                Err(reason) => self.rows[host] = Some(AgentRow::failed(name, reason)),
            }
        }
        plans
    }

    /// Copies the program to the hosts that lack it.
    fn copy(&mut self, program: &ProgramFile, plans: &[(usize, UpPlan)]) {
        let script = |&(host, plan): &(usize, UpPlan)| match plan {
            UpPlan::Start { copy_from: Some(offset), .. } => Some(HostScript {
                host,
                text: copy(program, &self.hosts.hosts[host].name, offset),
                input: Some(InputFile { path: program.path.clone(), offset }),
                time_limit: None,
            }),
            _ => None,
        };
        let scripts: Vec<HostScript> = plans.iter().filter_map(script).collect();
        if !scripts.is_empty() && std::io::stderr().is_terminal() {
            let mebibytes = program.size.div_ceil(1 << 20);
            note(&format!("copying {mebibytes} MiB to each of {} hosts …", scripts.len()));
        }
        for (host, run) in self.hosts.run(scripts, None, &mut |_| {}) {
            if let Some(reason) = failure(&run) {
                self.rows[host] = Some(AgentRow::failed(&self.hosts.hosts[host].name, reason));
            }
        }
    }

    /// Starts the agents, and waits until each of them answers.
    fn start(&mut self, plans: &[(usize, UpPlan)]) {
        let version = format!("wavetank {}", env!("CARGO_PKG_VERSION"));
        let waiting = plans.iter().filter(|(host, _)| self.rows[*host].is_none());
        let script = |&(host, plan): &(usize, UpPlan)| {
            let restart = matches!(plan, UpPlan::Start { restart: true, .. });
            let text = start(&self.hosts.hosts[host].name, &self.hosts.allow, &version, restart);
            HostScript { host, text, input: None, time_limit: Some(START_MAX) }
        };
        let scripts = waiting.map(script).collect();
        for (host, run) in self.hosts.run(scripts, None, &mut |_| {}) {
            let name = &self.hosts.hosts[host].name;
            let row = match (failure(&run), greeting_in(&run.stdout)) {
                (Some(reason), _) => AgentRow::failed(name, reason),
                (None, Some(greeting)) if greeting.hello.name == *name => {
                    let restart = |(index, plan): &(usize, UpPlan)| {
                        *index == host && matches!(plan, UpPlan::Start { restart: true, .. })
                    };
                    AgentRow::new(name, if plans.iter().any(restart) { "restarted" } else { "started" })
                }
                (None, Some(greeting)) => {
                    let owner = greeting.hello.name;
                    let reason =
                        format!("the folder belongs to the agent {owner}; choose another one by --dir");
                    AgentRow::failed(name, reason)
                }
                (None, None) => AgentRow::failed(name, "the agent does not answer"),
            };
            self.rows[host] = Some(row);
        }
    }
}
