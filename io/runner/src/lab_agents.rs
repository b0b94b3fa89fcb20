//! [`LabAgents`]: agents on the load hosts of a lab, for one run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_inventory::{Host, HostRole};
use wavetank_lab::{HostHandle, HostProcess, LabFolder};
use wavetank_link::{create_private, read_hello};
use wavetank_plan::{Plan, SourcesPlan};
use wavetank_units::{Code, Nanos, SourceRange, UserError, sanitize};

use super::fleet_link::FleetReach;
use super::fleet_run::{FleetRun, FleetTolerance};
use super::lab_run::{LabRun, LoadHost};

/// Folder of an agent, in the folder of its host.
const AGENT_FOLDER: &str = ".agent";
/// The agent's log, in that folder.
const AGENT_LOG: &str = "agent.log";
/// This program, for a process that starts it.
const THIS_PROGRAM: &str = "/proc/self/exe";
/// An agent gets this long to listen.
const START_MAX: Nanos = Nanos::from_secs(30);
/// How often to look whether an agent listens.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// An agent gets this long to end by itself.
const END_MAX: Duration = Duration::from_secs(5);

/// The agents of a run in a lab. They end with it, and also if this process is killed.
pub(super) struct LabAgents {
    agents: Vec<LabAgent>,
}

struct LabAgent {
    host: String,
    folder: PathBuf,
    process: HostProcess,
}

/// The folders of the agents on the hosts of a lab, with the names of the hosts.
pub fn agent_folders(lab: &LabFolder) -> Vec<(String, PathBuf)> {
    let hosts = std::fs::read_dir(lab.path().join("hosts")).into_iter().flatten().flatten();
    let names = hosts.filter_map(|host| host.file_name().into_string().ok());
    let mut folders: Vec<(String, PathBuf)> = names
        .map(|name| (name.clone(), lab.host_folder(&name).join(AGENT_FOLDER)))
        .filter(|(_, folder)| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

impl LabRun {
    /// Starts the agents of the load hosts and returns them as the fleet that sends the load of
    /// `plan`; `None` if this process sends it.
    ///
    /// # Errors
    /// An agent that cannot be started or take part.
    pub fn start_agents(&self, plan: &Plan) -> Result<Option<FleetRun>, UserError> {
        let Some(tolerance) = self.by_agents else { return Ok(None) };
        let names = self.load_hosts.iter().map(|host| host.name.as_str());
        let agents = LabAgents::start(&self.folder, names)?;
        let mut fleet = self.agents.get_or_init(|| agents).connect(tolerance)?;
        if !plan.sources.is_empty() {
            let host = |name: &str| self.load_hosts.iter().find(|host| host.name == name);
            fleet.set_sources(|name| host(name).map(|host| own_sources(host, &plan.sources)));
        }
        Ok(Some(fleet))
    }
}

impl LabAgents {
    /// Starts an agent in each of `hosts` of the lab in `folder`, and waits until all listen.
    ///
    /// # Errors
    /// A host that cannot be entered, or an agent that ends or does not listen in time.
    pub(super) fn start<'a>(
        folder: &LabFolder,
        hosts: impl Iterator<Item = &'a str>,
    ) -> Result<Self, UserError> {
        let agents = hosts.map(|host| LabAgent::start(folder, host)).collect::<Result<Vec<_>, _>>()?;
        agents.iter().try_for_each(LabAgent::wait_until_it_listens)?;
        Ok(Self { agents })
    }

    /// Connects to all of them.
    ///
    /// # Errors
    /// Those of [`FleetRun::connect`].
    pub(super) fn connect(&self, tolerance: FleetTolerance) -> Result<FleetRun, UserError> {
        let host = |agent: &LabAgent| Host { role: HostRole::Load, ..Host::named(agent.host.clone()) };
        let folders: BTreeMap<String, PathBuf> =
            self.agents.iter().map(|agent| (agent.host.clone(), agent.folder.clone())).collect();
        FleetRun::connect(self.agents.iter().map(host).collect(), FleetReach::Sockets(folders), tolerance)
    }
}

impl Drop for LabAgents {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            agent.process.terminate();
        }
        for agent in &self.agents {
            // Dropping the process ends an agent that does not end by itself.
            agent.process.ends_within(END_MAX);
        }
    }
}

impl LabAgent {
    fn start(lab: &LabFolder, host: &str) -> Result<Self, UserError> {
        let folder = lab.host_folder(host).join(AGENT_FOLDER);
        let failed = |error: std::io::Error| not_started(host, &error.to_string());
        create_private(&folder).map_err(failed)?;
        let log = File::create(folder.join(AGENT_LOG)).map_err(failed)?;
        // No address outside of the lab can be reached from its hosts, so each target is allowed.
        let options = ["--allow", "0.0.0.0/0", "--allow", "::/0", "--name", host, "--dir"];
        let words = [THIS_PROGRAM, "agent", "serve"].into_iter().chain(options).map(OsString::from);
        let words: Vec<OsString> = words.chain([folder.clone().into_os_string()]).collect();
        let process = HostHandle::to(lab, host)?.start(&words, &log)?;
        Ok(Self { host: host.to_owned(), folder, process })
    }

    fn wait_until_it_listens(&self) -> Result<(), UserError> {
        let clock = Clock::starting_now();
        loop {
            let Err(unready) = read_hello(&self.folder) else { return Ok(()) };
            if self.process.ends_within(LOOK_EVERY) {
                return Err(not_started(&self.host, &last_line(&self.folder.join(AGENT_LOG))));
            }
            if clock.now() >= START_MAX {
                let reason = match unready.kind() {
                    ErrorKind::NotFound => format!("it does not listen after {START_MAX}"),
                    _ => unready.to_string(),
                };
                return Err(not_started(&self.host, &reason));
            }
        }
    }
}

/// Those of `sources` that are addresses of `host`.
fn own_sources(host: &LoadHost, sources: &SourcesPlan) -> SourcesPlan {
    let is_source = |address: &&IpAddr| sources.ranges.iter().any(|range| range.contains(**address));
    let own = host.facts.addresses.iter().filter(is_source);
    let ranges = own.map(|&address| SourceRange { first: address, last: address }).collect();
    SourcesPlan { ranges, order: sources.order }
}

/// The last line of an agent's log.
fn last_line(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().next_back().map_or("it ended at its start".into(), sanitize).into_owned()
}

fn not_started(host: &str, reason: &str) -> UserError {
    let message = format!("cannot start an agent on host {host} of the lab: {reason}");
    UserError::refused(Code::AgentNotStarted, message, "repeat the run without --agents")
}
