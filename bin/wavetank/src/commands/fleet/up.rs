//! `wavetank fleet up`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use serde_json::json;
use wavetank_inventory::Host;
use wavetank_ssh::InputFile;
use wavetank_units::{ExitCode, Nanos, UserError};

use super::agent_hosts::{AgentHosts, HostScript, failure, greeting_in};
use super::agent_rows::{AgentRow, table};
use super::agent_settings::{AgentSettings, SEED, agent_file};
use super::broker_folder::{AgentLink, BrokerFolder, CA};
use super::broker_keeper::BrokerKeeper;
use super::program_file::ProgramFile;
use super::up_plan::{UpPlan, plan};
use super::up_scripts::{copy, found_files, probe, put, start};
use crate::cli::{FileFormat, FleetUpArgs};
use crate::output;

/// Time for a look at a host. It computes the digest of a program there.
const PROBE_MAX: Nanos = Nanos::from_secs(120);
/// Time for the end of an agent and the start of another one.
const START_MAX: Nanos = Nanos::from_secs(90);
/// Exit code after an interrupt (128 + SIGINT).
const INTERRUPTED: u8 = 130;

/// Starts an agent on each load host. Exit 0 if all of them have one, else 1.
pub(super) fn up(args: &FleetUpArgs) -> Result<u8, UserError> {
    let FleetUpArgs { agents: args, broker: dir } = args;
    let hosts = AgentHosts::read(&args.hosts, &args.ssh, &args.folder.dir)?;
    let file = args.hosts.fleet.as_deref();
    let named = hosts.fleet.as_ref().zip(file);
    let broker = named.map(|(fleet, file)| BrokerFolder::read(fleet, dir.as_deref(), file)).transpose()?;
    let broker = broker.flatten();
    let settings = all_settings(&hosts, broker.as_ref())?;
    let keeper = broker.as_ref().zip(file).filter(|(broker, _)| broker.ports().is_some());
    let ssh_config = args.ssh.ssh_config.as_ref();
    let keeper = keeper.map(|(broker, fleet)| BrokerKeeper { broker, fleet, ssh_config });
    let mut program = ProgramFile::read()?;
    keeper.as_ref().map(BrokerKeeper::start).transpose()?;
    let mut up = Up { rows: vec![None; hosts.hosts.len()], hosts, settings };
    let plans = up.look(&mut program);
    up.copy(&program, &plans);
    up.put_link_files(&plans);
    up.start(&plans);
    if let Some(keeper) = &keeper {
        up.check_tunnels(keeper);
    }
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

type LinkFile = fn(&AgentLink) -> &(PathBuf, String);

const fn ca(link: &AgentLink) -> &(PathBuf, String) {
    &link.ca
}

const fn seed(link: &AgentLink) -> &(PathBuf, String) {
    &link.seed
}

/// Returns what the agent of each host is started with.
fn all_settings(hosts: &AgentHosts, broker: Option<&BrokerFolder>) -> Result<Vec<AgentSettings>, UserError> {
    let allow: Vec<String> =
        hosts.fleet.iter().flat_map(|fleet| &fleet.allow).map(ToString::to_string).collect();
    let settings = |host: &Host| {
        let link = broker.map(|broker| broker.agent_link(&host.name)).transpose()?;
        Ok(AgentSettings { name: host.name.clone(), allow: allow.clone(), link })
    };
    hosts.hosts.iter().map(settings).collect()
}

/// The hosts, and what became of each.
struct Up {
    hosts: AgentHosts,
    /// What each agent is started with.
    settings: Vec<AgentSettings>,
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
                None => plan(
                    &self.settings[host],
                    program,
                    &found_files(&run.stdout),
                    greeting_in(&run.stdout).as_ref(),
                ),
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
        self.run_copies(scripts);
    }

    /// Copies the files for the broker to the hosts of the agents that are started.
    fn put_link_files(&mut self, plans: &[(usize, UpPlan)]) {
        for (name, of) in [(CA, ca as LinkFile), (SEED, seed as LinkFile)] {
            let waiting = plans.iter().map(|(host, _)| *host).filter(|host| self.rows[*host].is_none());
            let script = |host: usize| {
                let (path, digest) = of(self.settings[host].link.as_ref()?);
                let input = Some(InputFile { path: path.clone(), offset: 0 });
                Some(HostScript {
                    host,
                    text: put(&agent_file(&self.settings[host].name, name), digest),
                    input,
                    time_limit: Some(START_MAX),
                })
            };
            let scripts: Vec<HostScript> = waiting.filter_map(script).collect();
            self.run_copies(scripts);
        }
    }

    /// Runs scripts that copy, and records those that failed.
    fn run_copies(&mut self, scripts: Vec<HostScript>) {
        for (host, run) in self.hosts.run(scripts, None, &mut |_| {}) {
            if let Some(reason) = failure(&run) {
                self.rows[host] = Some(AgentRow::failed(&self.hosts.hosts[host].name, reason));
            }
        }
    }

    /// Waits for the tunnels of all agents that are up.
    fn check_tunnels(&mut self, keeper: &BrokerKeeper<'_>) {
        let is_up = |row: &Option<AgentRow>| row.as_ref().is_some_and(|row| !row.is_failed());
        let up: Vec<String> =
            self.rows.iter().filter(|row| is_up(row)).flatten().map(|row| row.host.clone()).collect();
        for (host, reason) in keeper.tunnel_problems(&up) {
            let row = self.rows.iter_mut().flatten().find(|row| row.host == host);
            row.expect("it was just there").reason = Some(format!("its tunnel is not up: {reason}"));
        }
    }

    /// Starts the agents, and waits until each of them answers.
    fn start(&mut self, plans: &[(usize, UpPlan)]) {
        let version = format!("wavetank {}", env!("CARGO_PKG_VERSION"));
        let waiting = plans.iter().filter(|(host, _)| self.rows[*host].is_none());
        let script = |&(host, plan): &(usize, UpPlan)| {
            let restart = matches!(plan, UpPlan::Start { restart: true, .. });
            let text = start(&self.settings[host], &version, restart);
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
