//! Arguments of `wavetank fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_units::quantity::{parse_count_positive, parse_duration_positive};
use wavetank_units::{Code, Nanos, UserError};

use super::fleet_agent_args::{
    FleetAgentArgs, FleetBrokerArgs, FleetLogsArgs, FleetSettleArgs, FleetUnitArgs, FleetUpArgs,
};
use super::fleet_manifest_args::FleetManifestArgs;
use super::output_formats::FileFormat;

/// `wavetank fleet`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet exec -w 'load[01-20]' -x load07 uname -r
             wavetank fleet exec --fleet dc1.yaml -w load 'sysctl -n net.ipv4.ip_local_port_range'
             wavetank fleet hosts --inventory hosts.ini -w web
             wavetank fleet up --fleet dc1.yaml; wavetank fleet status --fleet dc1.yaml
Hosts are reached by the system's ssh with the user's own configuration; no password is asked for")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) what: FleetCommand,
}

/// A subcommand of `fleet`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum FleetCommand {
    /// Run a command on many hosts and show equal output once
    Exec(FleetExecArgs),
    /// Show CPU, network and sockets of many hosts, each second
    Top(FleetTopArgs),
    /// List the selected hosts and how ssh reaches them; connect to none
    Hosts(FleetHostsArgs),
    /// Copy this program to the load hosts and start an agent on each of them
    Up(FleetUpArgs),
    /// End the agents of the load hosts
    Down(FleetUpArgs),
    /// Show the agents of the load hosts: version, state and capabilities
    Status(FleetAgentArgs),
    /// Fetch the intervals that agents keep of unsettled runs, and compute the results again
    Settle(FleetSettleArgs),
    /// Measure how much load each load host can generate; shares of runs follow it
    Calibrate(FleetCalibrateArgs),
    /// Show the end of each agent's log
    Logs(FleetLogsArgs),
    /// Print a systemd unit for an agent that is always there
    Unit(FleetUnitArgs),
    /// Print the fleet as objects of a Kubernetes cluster
    Manifest(FleetManifestArgs),
    /// Make the files of a NATS broker between a controller and its agents
    Broker(FleetBrokerArgs),
}

/// Which hosts, and how ssh reaches them.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HostArgs {
    /// Hosts or groups, joined by commas, ranges in brackets: load[01-20] (repeatable)
    #[arg(short = 'w', long, value_name = "HOSTS")]
    pub(crate) hosts: Vec<String>,
    /// Hosts or groups to leave out (repeatable)
    #[arg(short = 'x', long, value_name = "HOSTS")]
    pub(crate) exclude: Vec<String>,
    /// Group of dsh: a file in ~/.dsh/group or /etc/dsh/group (repeatable)
    #[arg(short = 'g', long, value_name = "NAME")]
    pub(crate) group: Vec<String>,
    /// Fleet file with the hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) fleet: Option<PathBuf>,
    /// Ansible inventory with the hosts, INI or YAML
    #[arg(long, value_name = "FILE", conflicts_with = "fleet")]
    pub(crate) inventory: Option<PathBuf>,
}

/// Options of ssh.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SshArgs {
    /// Login name [default: the inventory's, or that of ssh's configuration]
    #[arg(short = 'l', long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Simultaneous connections [default: the fleet file's, or 32]
    #[arg(short = 'f', long, value_name = "N", value_parser = parse_count_positive)]
    pub(crate) fan_out: Option<u64>,
    /// Time to connect and log in [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) connect_timeout: Option<Nanos>,
    /// Start the command by `sudo -n`
    #[arg(long)]
    pub(crate) sudo: bool,
}

/// `fleet exec`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet exec -w 'load[01-20]' -x load07 uname -r
             wavetank fleet exec -g load --timeout 30s 'dmesg | tail -n 3'
             wavetank fleet exec --fleet dc1.yaml --sudo --stream -- journalctl -f -n 0
The command and its arguments are joined and run by the remote shell, as with ssh. Its standard input is empty.
Ctrl-C, a time limit or a lost connection end it on the host too (not with --raw)")]
pub(crate) struct FleetExecArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
    /// Time limit on each host [default: none]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) timeout: Option<Nanos>,
    /// Print each line as it comes, with its host, in place of equal output once
    #[arg(long)]
    pub(crate) stream: bool,
    /// Send the command as it is, for hosts without a POSIX shell
    #[arg(long)]
    pub(crate) raw: bool,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
    /// Command and its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

/// `fleet top`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet top -w 'load[01-20]'
             wavetank fleet top --fleet dc1.yaml --format json --duration 60s > samples.jsonl
Needs a POSIX shell and /proc on the hosts, and no program of ours. Ctrl-C ends it")]
pub(crate) struct FleetTopArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
    /// How long to watch [default: until Ctrl-C]
    #[arg(short, long, value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) duration: Option<Nanos>,
    /// Output format; json has a line for each host and second
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `fleet hosts`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetHostsArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// `fleet calibrate`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet calibrate --fleet dc1.yaml --quick
The hosts measure themselves at the same time, on loopback. Shares follow the results if all hosts have one and
the fleet file has no weights")]
pub(crate) struct FleetCalibrateArgs {
    #[command(flatten)]
    pub(crate) agents: FleetAgentArgs,
    /// Quick calibration (about 15 s)
    #[arg(long)]
    pub(crate) quick: bool,
}

impl FleetArgs {
    /// Checks options that depend on each other.
    pub(super) fn check(&self) -> Result<(), UserError> {
        if let FleetCommand::Manifest(args) = &self.what {
            return args.check();
        }
        let FleetCommand::Exec(args) = &self.what else { return Ok(()) };
        if args.stream && args.format == FileFormat::Json {
            return Err(UserError::usage(
                Code::Conflict,
                "--stream has no effect on JSON, which is one object at the end",
                "leave out --stream or --format json",
            ));
        }
        if args.raw && args.ssh.sudo {
            let message = "--sudo has no effect with --raw, which sends the command as it is";
            return Err(UserError::usage(Code::Conflict, message, "write sudo into the command"));
        }
        Ok(())
    }
}

impl FleetCommand {
    /// Whether the output is JSON.
    pub(crate) fn is_json(&self) -> bool {
        let format = match self {
            Self::Exec(args) => args.format,
            Self::Top(args) => args.format,
            Self::Hosts(args) => args.format,
            Self::Up(args) | Self::Down(args) => args.agents.format,
            Self::Status(args) => args.format,
            Self::Settle(args) => args.agents.format,
            Self::Calibrate(args) => args.agents.format,
            Self::Logs(_) | Self::Unit(_) | Self::Manifest(_) | Self::Broker(_) => FileFormat::Text,
        };
        format == FileFormat::Json
    }
}
