//! [`SelectedHosts`]: the hosts of agents that keep spools, and how their spools are reached.

use std::path::PathBuf;
use std::process::{Command, Output};

use wavetank_lab::LabsFolder;
use wavetank_runner::{SpoolCommand, SpoolHosts, agent_folders};
use wavetank_ssh::{HostEnd, HostRun};
use wavetank_units::{Nanos, UserError, shell_quoted};

use super::super::agent_hosts::{AgentHosts, HostScript, failure};
use crate::cli::FleetSettleArgs;

/// Time for a command on a host. Spools are read once to list them.
const COMMAND_MAX: Nanos = Nanos::from_secs(300);
/// A host that never had an agent has no program.
const INSTALLED: &str = "[ -x \"$d/wavetank\" ] || { echo 'no agent is installed' >&2; exit 3; }";

/// See the module's description.
pub(super) enum SelectedHosts {
    /// Load hosts of a fleet, over ssh.
    Remote(Box<AgentHosts>),
    /// Load hosts of a lab on this machine: their names, and the folders of their agents.
    Lab(Vec<(String, PathBuf)>),
}

impl SelectedHosts {
    /// Finds the hosts that the arguments select.
    ///
    /// # Errors
    /// As for [`AgentHosts::read`]; no such lab.
    pub(super) fn read(args: &FleetSettleArgs) -> Result<Self, UserError> {
        let agents = &args.agents;
        let Some(name) = &args.lab else {
            let hosts = AgentHosts::read(&agents.hosts, &agents.ssh, &agents.folder.dir)?;
            return Ok(Self::Remote(Box::new(hosts)));
        };
        let lab = LabsFolder::system().choose(Some(name))?;
        Ok(Self::Lab(agent_folders(&lab)))
    }
}

impl SpoolHosts for SelectedHosts {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Remote(hosts) => hosts.hosts.iter().map(|host| host.name.as_str()).collect(),
            Self::Lab(hosts) => hosts.iter().map(|(name, _)| name.as_str()).collect(),
        }
    }

    fn run(&self, commands: Vec<(usize, SpoolCommand)>) -> Vec<(usize, Result<String, String>)> {
        let runs: Vec<(usize, HostRun)> = match self {
            Self::Remote(hosts) => {
                let script = |(host, command): (usize, SpoolCommand)| HostScript {
                    host,
                    text: script(&command),
                    input: None,
                    time_limit: Some(COMMAND_MAX),
                };
                hosts.run(commands.into_iter().map(script).collect(), None, &mut |_| {})
            }
            Self::Lab(_) => {
                let run =
                    |(host, command): (usize, SpoolCommand)| (host, ended(self.process(host, &command)));
                commands.into_iter().map(run).collect()
            }
        };
        let result = |(host, run): (usize, HostRun)| (host, failure(&run).map_or(Ok(run.stdout), Err));
        runs.into_iter().map(result).collect()
    }

    fn process(&self, host: usize, command: &SpoolCommand) -> Command {
        match self {
            Self::Remote(hosts) => hosts.process(host, &script(command)),
            Self::Lab(hosts) => {
                // A path that is gone is reported when the process is started.
                let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("wavetank"));
                let mut process = Command::new(program);
                process.args(["agent", "spool"]).args(command).arg("--dir").arg(&hosts[host].1);
                process
            }
        }
    }
}

/// The text for a shell, with the folder in `$d`.
fn script(command: &SpoolCommand) -> String {
    let words: Vec<String> = command.iter().map(|word| shell_quoted(word)).collect();
    format!("{INSTALLED}\n\"$d/wavetank\" agent spool {} --dir \"$d\"", words.join(" "))
}

/// Waits for the end of a process on this machine.
fn ended(mut process: Command) -> HostRun {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match process.output() {
        Ok(Output { status, stdout, stderr }) => HostRun {
            end: HostEnd::Exit(status.code().unwrap_or(1)),
            stdout: text(&stdout),
            stderr: text(&stderr),
            took: Nanos::ZERO,
        },
        Err(error) => HostRun {
            end: HostEnd::Exit(1),
            stdout: String::new(),
            stderr: format!("cannot start a process: {error}"),
            took: Nanos::ZERO,
        },
    }
}
