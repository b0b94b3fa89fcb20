//! [`AgentHosts`]: the load hosts of a command, and how it reaches their agents.

use std::process::Command;

use wavetank_driver::Signals;
use wavetank_fleet::wire::decode_agent;
use wavetank_fleet::{AgentPayload, Hello, RunId};
use wavetank_inventory::{FleetFile, Host, HostRole};
use wavetank_runner::host_error;
use wavetank_ssh::{HostEnd, HostEvent, HostRun, InputFile, RemoteCommand, SshOptions, run_host_commands};
use wavetank_units::{Code, Nanos, UserError, shell_quoted};

use super::selection::Selection;
use crate::cli::{HostArgs, SshArgs};

/// Load hosts of a command.
pub(super) struct AgentHosts {
    pub(super) hosts: Vec<Host>,
    /// The fleet of the file, if one was named.
    pub(super) fleet: Option<FleetFile>,
    /// The agents' folder, as text for a shell.
    pub(super) folder: String,
    options: SshOptions,
    sudo: bool,
    fan_out: usize,
    signals: Signals,
}

/// A script for one host.
pub(super) struct HostScript {
    /// Index of the host.
    pub(super) host: usize,
    /// Text for `sh`.
    pub(super) text: String,
    /// What the script reads.
    pub(super) input: Option<InputFile>,
    /// How long it may take.
    pub(super) time_limit: Option<Nanos>,
}

/// A greeting, and the run that the agent takes part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentGreeting {
    pub(super) run: RunId,
    pub(super) hello: Hello,
}

impl AgentHosts {
    /// Reads the named files and selects load hosts.
    ///
    /// # Errors
    /// As for [`Selection::read`]; no load host.
    pub(super) fn read(hosts: &HostArgs, ssh: &SshArgs, folder: &str) -> Result<Self, UserError> {
        let selection = Selection::read(hosts)?;
        let (options, sudo) = selection.ssh_options(ssh);
        let (fan_out, fleet) = (selection.fan_out(ssh), selection.fleet().cloned());
        let hosts: Vec<Host> =
            selection.hosts.into_iter().filter(|host| host.role == HostRole::Load).collect();
        if hosts.is_empty() {
            return Err(UserError::usage(
                Code::BadHostList,
                "no load host is selected; agents are for these only",
                "name load hosts of the fleet file: -w 'load[01-20]'",
            ));
        }
        let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
        Ok(Self { hosts, fleet, folder: folder_text(folder), options, sudo, fan_out, signals })
    }

    /// Runs scripts, a limited number at a time, and returns their results in order. `event` gets
    /// what they write.
    pub(super) fn run(
        &self,
        scripts: Vec<HostScript>,
        fan_out: Option<usize>,
        event: &mut dyn FnMut(HostEvent<'_>),
    ) -> Vec<(usize, HostRun)> {
        let limit = scripts.iter().filter_map(|script| script.time_limit).max();
        let (indexes, commands): (Vec<usize>, Vec<(Host, RemoteCommand)>) = scripts
            .into_iter()
            .map(|HostScript { host, text, input, .. }| {
                let text = format!("d={}\n{text}", self.folder);
                let command = RemoteCommand { text, sudo: self.sudo, raw: false, input };
                (host, (self.hosts[host].clone(), command))
            })
            .unzip();
        let limits = (fan_out.unwrap_or(self.fan_out), limit);
        let interrupted = || self.is_interrupted();
        let runs = run_host_commands(&commands, &self.options, limits, &interrupted, event);
        indexes.into_iter().zip(runs).collect()
    }

    /// Runs the same script on all hosts and returns their results.
    pub(super) fn run_on_all(&self, text: &str, time_limit: Nanos) -> Vec<HostRun> {
        let script =
            |host| HostScript { host, text: text.to_owned(), input: None, time_limit: Some(time_limit) };
        let scripts = (0..self.hosts.len()).map(script).collect();
        self.run(scripts, None, &mut |_| {}).into_iter().map(|(_, run)| run).collect()
    }

    /// Returns the process that runs a script on a host. Its standard input and output are the
    /// script's.
    pub(super) fn process(&self, host: usize, text: &str) -> Command {
        let text = format!("d={}\n{text}", self.folder);
        self.options.attached(&self.hosts[host], &text, self.sudo)
    }

    /// Whether the user asked to end.
    pub(super) fn is_interrupted(&self) -> bool {
        self.signals.received() > 0
    }
}

/// Returns a folder as text for a shell. `~/` is the home folder, which only the shell knows.
fn folder_text(folder: &str) -> String {
    match folder.strip_prefix("~/") {
        Some(rest) => format!("\"$HOME\"/{}", shell_quoted(rest)),
        None => shell_quoted(folder),
    }
}

/// Returns the greeting in the output of a script. Startup files of shells may write lines, too.
pub(super) fn greeting_in(output: &str) -> Option<AgentGreeting> {
    let frames = output.lines().filter_map(|line| decode_agent(line.as_bytes()).ok());
    frames.map(|frame| frame.message).find_map(|message| match message.report {
        AgentPayload::Hello(hello) => Some(AgentGreeting { run: message.run, hello }),
        _ => None,
    })
}

/// Returns why a script failed, as one line: the last line that is no advice, or how it ended.
pub(super) fn failure(run: &HostRun) -> Option<String> {
    let ended = run.end.failure()?;
    let is_reason = |line: &&str| !line.is_empty() && !line.starts_with("hint:");
    let said = run.stderr.lines().rev().map(str::trim).find(is_reason);
    match (&run.end, said) {
        (HostEnd::Exit(_), Some(said)) => Some(without_code(said).to_owned()),
        _ => Some(ended),
    }
}

/// Returns the message of an error of this program, without the code at its end.
fn without_code(line: &str) -> &str {
    let message = line.strip_prefix("error: ").and_then(|line| line.strip_suffix(']'));
    message.and_then(|line| line.rsplit_once(" [")).map_or(line, |(message, _)| message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_word_for_a_shell() {
        assert_eq!(folder_text("~/.wavetank/agent"), "\"$HOME\"/.wavetank/agent");
        assert_eq!(folder_text("~/a b"), "\"$HOME\"/'a b'");
        assert_eq!(folder_text("/srv/a b"), "'/srv/a b'");
    }

    #[test]
    fn the_reason_is_a_line_without_advice() {
        let run = |end, stderr: &str| HostRun {
            end,
            stdout: String::new(),
            stderr: stderr.to_owned(),
            took: Nanos::ZERO,
        };
        let exit = || HostEnd::Exit(3);
        assert_eq!(failure(&run(exit(), "one\ntwo\n  hint: three\n")).as_deref(), Some("two"));
        let own = "error: cannot stop the agent: it [x] stays [agent_not_stopped]\n";
        assert_eq!(failure(&run(exit(), own)).as_deref(), Some("cannot stop the agent: it [x] stays"));
        assert_eq!(failure(&run(exit(), "")).as_deref(), Some("exit 3"));
        assert_eq!(failure(&run(HostEnd::Exit(0), "a warning")), None);
        assert_eq!(failure(&run(HostEnd::TimedOut, "a")).as_deref(), Some("timed out"));
    }
}
