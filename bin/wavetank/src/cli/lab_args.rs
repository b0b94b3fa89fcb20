//! Arguments of `wavetank lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{Code, Nanos, UserError};

use super::errors::Errors;
use super::fleet_run_args::SENDERS;
use super::output_formats::FileFormat;
use super::run_args::{RunArgs, RunFlags};

/// `wavetank lab`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab up examples/labs/haproxy-http.yaml; wavetank lab status
             wavetank lab exec load1 -- curl -s http://lb1:8080/; wavetank lab logs lb1 haproxy; wavetank lab down
A lab needs root. This machine's own network is not changed, and nothing remains after `down`")]
pub(super) struct LabFlags {
    #[command(subcommand)]
    pub(super) what: LabSubcommand,
}

/// A subcommand of `lab`.
#[derive(Debug, Subcommand)]
pub(super) enum LabSubcommand {
    /// Check a topology file for errors and, as root, list what this machine lacks; create nothing
    Check(LabCheckArgs),
    /// Bring up the hosts, networks and services that a topology file describes
    Up(LabUpArgs),
    /// Run a load test from the lab's load hosts; a lab that is not up is brought up for the run
    /// and taken down after it
    Run(Box<LabRunFlags>),
    /// List running labs with hosts, addresses and services
    Status(LabStatusArgs),
    /// Run a command in a host
    Exec(LabExecArgs),
    /// Print the logs of a host's services
    Logs(LabLogsArgs),
    /// Show, drain, re-enable or reweight the servers of a balancer
    Pool(LabPoolArgs),
    /// Inject a fault into a host: kill, stop or pause a service, cut a link, drop packets, exhaust
    /// files, slow down
    Fault(LabFaultArgs),
    /// Remove a lab, including one with a killed process
    Down(LabNameArgs),
}

/// `lab check`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabCheckArgs {
    /// The topology file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `lab up`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabUpArgs {
    /// The topology file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Lab name, to run several labs simultaneously [default: the file's `name`]
    #[arg(long, value_name = "NAME")]
    pub(crate) lab: Option<String>,
}

/// `lab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
For example: wavetank lab run examples/labs/one-server.yaml examples/labs/one-server-load.yaml
             wavetank lab run lab.yaml http://app:8080/ -r 1k/s -d 10s --agents
All other options are those of `wavetank run`. Conditions may refer to hosts: cpu(lb1) < 90%, established(lb1) >= 2k in keep")]
pub(super) struct LabRunFlags {
    /// The topology file
    #[arg(id = "lab_file", value_name = "LAB")]
    pub(super) file: PathBuf,
    /// Lab name, to run several labs simultaneously [default: the file's `name`]
    #[arg(long, value_name = "NAME")]
    pub(super) lab: Option<String>,
    /// Send the load by an agent on each load host, as `run --fleet` does, instead of threads of
    /// this process
    #[arg(long, group = SENDERS)]
    pub(super) agents: bool,
    #[command(flatten)]
    pub(super) run: RunFlags,
}

/// `lab down`, and the lab of other subcommands.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabNameArgs {
    /// Name of the lab, if there are several
    #[arg(long, value_name = "NAME")]
    pub(crate) lab: Option<String>,
}

/// `lab status`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabStatusArgs {
    #[command(flatten)]
    pub(crate) which: LabNameArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `lab exec`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabExecArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    #[command(flatten)]
    pub(crate) which: LabNameArgs,
    /// Command and arguments, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) words: Vec<OsString>,
}

/// `lab logs`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabLogsArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Service [default: all services of the host]
    #[arg(value_name = "SERVICE")]
    pub(crate) service: Option<String>,
    /// Follow the log until the lab ends or Ctrl-C
    #[arg(long, short)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) which: LabNameArgs,
}

/// `lab pool`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank lab pool lb1; wavetank lab pool lb1 haproxy app1 drain; wavetank lab pool lb1 haproxy app1 ready
             wavetank lab pool lb1 direct_routing web[1-2] weight 3
drain: no new connections; ready: the weight in the topology file; weight N: 0 to 256. Open connections stay.
Works with direct routing, NAT and HAProxy. Leave out SERVICE if the host has only one of them.")]
pub(crate) struct LabPoolArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Nothing or SERVICE to show the servers; SERVICE SERVER followed by drain, ready or weight N
    /// to change one
    #[arg(value_name = "SERVICE", num_args = 0..=4)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) which: LabNameArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `lab fault`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
FAULT is one of: kill SERVICE · stop SERVICE · pause SERVICE · cut NETWORK · drop SHARE NETWORK
                 files SERVICE N · slow SERVICE TIME · undo NUMBER
Leave out SERVICE or NETWORK if the host has only one.
For example: wavetank lab fault app1 kill nginx; wavetank lab fault app1 drop 20% --for 10s
             wavetank lab fault app1 undo 3                      reverts the fault with this number")]
pub(crate) struct LabFaultArgs {
    /// The host
    #[arg(value_name = "HOST")]
    pub(crate) host: String,
    /// Fault to inject
    #[arg(value_name = "FAULT", required = true, num_args = 1..=3)]
    pub(crate) words: Vec<String>,
    /// Duration; the fault is reverted afterwards or on interrupt [default: until undo or down]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration_positive)]
    pub(crate) lasts: Option<Nanos>,
    #[command(flatten)]
    pub(crate) which: LabNameArgs,
}

/// A subcommand of `lab`, with a checked run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LabCommand {
    /// Checks the file without creating anything.
    Check(LabCheckArgs),
    /// Brings a lab up.
    Up(LabUpArgs),
    /// Runs a load test from the load hosts of a lab.
    Run(Box<LabRunArgs>),
    /// Shows the state of labs.
    Status(LabStatusArgs),
    /// Runs a command in a host.
    Exec(LabExecArgs),
    /// Prints the logs of services.
    Logs(LabLogsArgs),
    /// Shows or changes the servers of a host's balancers.
    Pool(LabPoolArgs),
    /// Injects or reverts a fault.
    Fault(LabFaultArgs),
    /// Removes the lab.
    Down(LabNameArgs),
}

/// `lab run`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabRunArgs {
    /// The topology file.
    pub(crate) file: PathBuf,
    /// Name of the lab; `None`: the name in the file.
    pub(crate) lab: Option<String>,
    /// The load is sent by an agent on each load host.
    pub(crate) agents: bool,
    /// The run.
    pub(crate) run: RunArgs,
}

impl LabRunArgs {
    /// Checks that the load can come from the hosts of a lab.
    fn check(&self) -> Result<(), UserError> {
        let refused = |message: &str, hint: &str| Err(UserError::usage(Code::Conflict, message, hint));
        if self.run.fleet.fleet.is_some() {
            return refused(
                "--fleet cannot be used with lab run",
                "use --agents: the load hosts of the lab are the fleet",
            );
        }
        if self.agents && self.run.options.once {
            return refused(
                "--agents and --once exclude each other",
                "leave out --agents: one request is sent from the first load host",
            );
        }
        Ok(())
    }
}

impl LabFlags {
    /// Checks the options and reads the named files; `command` is the redacted command line. Errors
    /// are reported together with those in `errors`.
    pub(super) fn resolve(self, command: String, errors: Errors) -> Result<LabCommand, UserError> {
        let errors = if matches!(self.what, LabSubcommand::Run(_)) { errors } else { errors.none()? };
        Ok(match self.what {
            LabSubcommand::Run(flags) => {
                let LabRunFlags { file, lab, agents, run } = *flags;
                let run = run.resolve(command, errors)?;
                if !run.observe.is_empty() {
                    let message = "--observe: every host of a lab is sampled";
                    return Err(UserError::usage(Code::Conflict, message, "leave out --observe"));
                }
                let args = LabRunArgs { file, lab, agents, run };
                args.check()?;
                LabCommand::Run(Box::new(args))
            }
            LabSubcommand::Check(args) => LabCommand::Check(args),
            LabSubcommand::Up(args) => LabCommand::Up(args),
            LabSubcommand::Status(args) => LabCommand::Status(args),
            LabSubcommand::Exec(args) => LabCommand::Exec(args),
            LabSubcommand::Logs(args) => LabCommand::Logs(args),
            LabSubcommand::Pool(args) => LabCommand::Pool(args),
            LabSubcommand::Fault(args) => args.command().map(|_| LabCommand::Fault(args))?,
            LabSubcommand::Down(args) => LabCommand::Down(args),
        })
    }
}

impl LabCommand {
    /// Whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Check(args) => args.format == FileFormat::Json,
            Self::Status(args) => args.format == FileFormat::Json,
            _ => false,
        }
    }
}

#[cfg(target_os = "linux")]
impl LabPoolArgs {
    /// Returns what to do: a single argument is a service, unless it is a verb.
    pub(crate) fn command(&self) -> PoolCommand {
        match self.words.as_slice() {
            [] => PoolCommand::Show(None),
            [one] if !["drain", "ready", "weight"].contains(&one.as_str()) => {
                PoolCommand::Show(Some(one.clone()))
            }
            some => PoolCommand::Change(some.join(" ")),
        }
    }
}

impl LabFaultArgs {
    /// Returns the fault to inject, or the number of the fault to revert.
    pub(crate) fn command(&self) -> Result<FaultCommand, UserError> {
        let [verb, number] = self.words.as_slice() else {
            return Ok(FaultCommand::Begin(self.words.join(" "), self.lasts));
        };
        if verb != "undo" {
            return Ok(FaultCommand::Begin(self.words.join(" "), self.lasts));
        }
        let number = number.parse().map_err(|_| {
            let hint = "use the number that `lab fault` printed: undo 3";
            UserError::usage(Code::LabFaultWords, format!("`{number}` is not the number of a fault"), hint)
        })?;
        if self.lasts.is_some() {
            let message = "--for has no effect on undo";
            return Err(UserError::usage(Code::LabFaultWords, message, "leave --for out"));
        }
        Ok(FaultCommand::End(number))
    }
}

/// What `pool` does.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PoolCommand {
    /// Shows all servers of the host, or those of this service.
    Show(Option<String>),
    /// Changes one server, as the text says.
    Change(String),
}

#[cfg(target_os = "linux")]
impl PoolCommand {
    /// Returns the service that it names first, if it names one.
    pub(crate) fn service(&self) -> Option<&str> {
        match self {
            Self::Show(service) => service.as_deref(),
            Self::Change(text) => text.split_whitespace().next(),
        }
    }
}

/// What `fault` does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultCommand {
    /// Injects the fault that the text describes, for this duration; `None`: until it is reverted
    /// or the lab is down.
    Begin(String, Option<Nanos>),
    /// Reverts the fault with this number.
    End(u64),
}

#[cfg(target_os = "linux")]
impl FaultCommand {
    /// Returns the service that a fault such as `kill nginx` acts on.
    pub(crate) fn service(&self) -> Option<&str> {
        let Self::Begin(text, _) = self else { return None };
        let mut words = text.split_whitespace();
        let on_service = matches!(words.next(), Some("kill" | "stop" | "pause" | "slow" | "files"));
        words.next().filter(|_| on_service)
    }
}
