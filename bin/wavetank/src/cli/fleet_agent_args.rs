//! Arguments of `wavetank fleet up`, `down`, `status`, `settle`, `logs`, `unit` and `broker`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_units::quantity::parse_count_positive;

use super::fleet_args::{HostArgs, SshArgs};
use super::output_formats::FileFormat;
use super::value_parsers::{default_runs_dir, parse_run};

/// `fleet up` and `fleet down`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet up --fleet dc1.yaml
             wavetank fleet down --fleet dc1.yaml -x load07
Of a fleet file only the load hosts are taken. `up` starts nothing where an agent of this version already runs with the
same settings. With `link: nats`, `up` also starts the broker on this host, and `down` of the whole fleet ends it")]
pub(crate) struct FleetUpArgs {
    #[command(flatten)]
    pub(crate) agents: FleetAgentArgs,
    /// Folder of `fleet broker init`, if the fleet's link is a broker [default: FILE.broker]
    #[arg(long, value_name = "DIR", requires = "fleet")]
    pub(crate) broker: Option<PathBuf>,
}

/// `fleet status`, and the common arguments of commands on agents.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet status --fleet dc1.yaml --format json
Of a fleet file only the load hosts are taken")]
pub(crate) struct FleetAgentArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
    #[command(flatten)]
    pub(crate) folder: AgentFolderArgs,
    /// Output format
    #[arg(long, default_value = "text")]
    pub(crate) format: FileFormat,
}

/// Where an agent is on its host.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentFolderArgs {
    /// Folder of the agent on each host; `~/` is the login's home
    #[arg(long, value_name = "DIR", default_value = "~/.wavetank/agent")]
    pub(crate) dir: String,
}

/// `fleet settle`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet settle --fleet dc1.yaml
             wavetank fleet settle latest --fleet dc1.yaml --format json
             wavetank fleet settle latest --lab demo
Agents keep their intervals until the archive has them: after the loss of an agent or of the controller, this command
fetches them over ssh, or from the folder of a lab, computes the result again, and deletes them on the hosts")]
pub(crate) struct FleetSettleArgs {
    /// Folder, name or id of a run, or `latest` [default: all runs that agents keep intervals of]
    #[arg(value_name = "RUN|latest", value_parser = |text: &str| parse_run(text, "wavetank fleet settle latest"))]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) agents: FleetAgentArgs,
    /// Settle runs of `lab run --agents` in the running lab of this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["hosts", "exclude", "group", "fleet", "inventory", "dir"])]
    pub(crate) lab: Option<String>,
    /// Directory of stored runs [default: `WAVETANK_RUNS`, or runs]
    #[arg(long, value_name = "DIR", default_value_os_t = default_runs_dir(), hide_default_value = true)]
    pub(crate) runs_dir: PathBuf,
}

/// `fleet logs`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet logs --fleet dc1.yaml -n 50
             wavetank fleet logs --fleet dc1.yaml -w load07 --follow")]
pub(crate) struct FleetLogsArgs {
    #[command(flatten)]
    pub(crate) hosts: HostArgs,
    #[command(flatten)]
    pub(crate) ssh: SshArgs,
    #[command(flatten)]
    pub(crate) folder: AgentFolderArgs,
    /// Lines of each log
    #[arg(short = 'n', long, value_name = "N", default_value = "10", value_parser = parse_count_positive)]
    pub(crate) lines: u64,
    /// Go on with new lines until Ctrl-C
    #[arg(short = 'F', long)]
    pub(crate) follow: bool,
}

/// `fleet unit`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet unit --run-as load > wavetank-agent.service
Copy the unit to /etc/systemd/system/ and this program into the folder, then: systemctl enable --now wavetank-agent")]
pub(crate) struct FleetUnitArgs {
    /// User of the agent; controllers log in as this user or as root
    #[arg(long, value_name = "USER", default_value = "wavetank")]
    pub(crate) run_as: String,
    /// Folder of the agent, which also contains the program; an absolute path
    #[arg(long, value_name = "DIR", default_value = "/var/lib/wavetank/agent")]
    pub(crate) dir: String,
    /// Name of the agent; `%H` is the host's name
    #[arg(long, value_name = "NAME", default_value = "%H")]
    pub(crate) name: String,
}

/// `fleet broker`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet broker init --fleet dc1.yaml
Start the broker itself with nats-server, of the package of this name")]
pub(crate) struct FleetBrokerArgs {
    #[command(subcommand)]
    pub(crate) what: FleetBrokerCommand,
}

/// A subcommand of `fleet broker`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum FleetBrokerCommand {
    /// Write configuration, certificate and a key for the controller and each load host
    Init(FleetBrokerInitArgs),
    /// Serve the broker of `link: nats` with a tunnel to each load host, until SIGTERM
    Serve(FleetBrokerServeArgs),
}

/// `fleet broker init`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet broker init --fleet dc1.yaml --dir dc1.broker
The fleet file has `link: nats://HOST:PORT`, or `link: nats` for a broker that `fleet up` starts")]
pub(crate) struct FleetBrokerInitArgs {
    /// Fleet file with the broker and the load hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) fleet: PathBuf,
    /// Folder of the files, which must not exist [default: FILE.broker]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// `fleet broker serve`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank fleet broker serve --fleet dc1.yaml
`fleet up` starts it in the background if the fleet file has `link: nats`. Use it by itself in a unit of systemd")]
pub(crate) struct FleetBrokerServeArgs {
    /// Fleet file with `link: nats` and the load hosts
    #[arg(long, value_name = "FILE")]
    pub(crate) fleet: PathBuf,
    /// Folder of `fleet broker init` [default: FILE.broker]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Configuration file of ssh in place of the user's
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_config: Option<PathBuf>,
    /// Lead a session of its own, apart from the terminal
    #[arg(long)]
    pub(crate) detach: bool,
}
