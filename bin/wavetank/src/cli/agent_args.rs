//! Arguments of `wavetank agent`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use wavetank_units::quantity::parse_duration_positive;
use wavetank_units::{AllowTarget, Nanos};

/// `wavetank agent`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank agent serve --dir ~/.wavetank/agent --name load01
             wavetank agent hello --dir ~/.wavetank/agent
`wavetank fleet up` copies this program to the load hosts and starts an agent on each of them")]
pub(crate) struct AgentArgs {
    #[command(subcommand)]
    pub(crate) what: AgentCommand,
}

/// A subcommand of `agent`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AgentCommand {
    /// Run an agent in this process until SIGTERM
    Serve(AgentServeArgs),
    /// Connect standard input and output to the agent, as a controller does over ssh
    Attach(AgentAttachArgs),
    /// Print the agent's greeting: name, version, state and capabilities, as a line of JSON
    Hello(AgentHelloArgs),
    /// End the agent of a folder
    Stop(AgentStopArgs),
    /// List, print or delete the intervals that an agent keeps of unsettled runs
    Spool(AgentSpoolArgs),
}

/// `agent serve`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentServeArgs {
    /// Folder of the agent, with its socket, lock and spool; it is made private
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Name of the agent, unique in its fleet
    #[arg(long, value_name = "NAME")]
    pub(crate) name: String,
    /// Targets that the agent may load, joined by commas: names, addresses, networks (repeatable)
    #[arg(long, value_name = "TARGETS", value_delimiter = ',', value_parser = AllowTarget::parse)]
    pub(crate) allow: Vec<AllowTarget>,
    /// Broker over which controllers reach the agent in addition: `nats://HOST:4222`
    #[arg(long, value_name = "URL", requires = "nats_ca", requires = "nats_fleet")]
    pub(crate) link: Option<String>,
    /// Private file with the agent's seed [default: the seed in `WAVETANK_NATS_SEED`]
    #[arg(long, value_name = "FILE", requires = "link")]
    pub(crate) nats_seed: Option<PathBuf>,
    /// Certificate that signed the broker's (PEM)
    #[arg(long, value_name = "FILE", requires = "link")]
    pub(crate) nats_ca: Option<PathBuf>,
    /// Name of the fleet, as in its file
    #[arg(long, value_name = "NAME", requires = "link")]
    pub(crate) nats_fleet: Option<String>,
}

/// `agent attach`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentAttachArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// `agent hello`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentHelloArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// How long to wait for an agent that starts [default: not at all]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) wait: Option<Nanos>,
    /// Process that starts; its end also ends the wait
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<i32>,
}

/// `agent stop`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentStopArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Name that the agent must have [default: any]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How long to wait for its end [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration_positive)]
    pub(crate) wait: Option<Nanos>,
}

/// `agent spool`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(after_help = "\
For example: wavetank agent spool list --dir ~/.wavetank/agent
`wavetank fleet settle` uses these commands over ssh")]
pub(crate) struct AgentSpoolArgs {
    #[command(subcommand)]
    pub(crate) what: AgentSpoolCommand,
}

/// A subcommand of `agent spool`.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum AgentSpoolCommand {
    /// Print the spools in the folder, as a line of JSON
    List(AgentSpoolListArgs),
    /// Print a spool, byte by byte, after a line with its length
    Send(AgentSpoolSendArgs),
    /// Delete a spool that an archive has
    Delete(AgentSpoolDeleteArgs),
}

/// `agent spool list`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentSpoolListArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// `agent spool send`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentSpoolSendArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Number of the run, as `agent spool list` prints it
    #[arg(long, value_name = "NUMBER")]
    pub(crate) run: u64,
}

/// `agent spool delete`.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentSpoolDeleteArgs {
    /// Folder of the agent
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Number of the run, as `agent spool list` prints it
    #[arg(long, value_name = "NUMBER")]
    pub(crate) run: u64,
    /// SHA-256 of the intervals that the archive has; a spool with another one stays
    #[arg(long, value_name = "HEX")]
    pub(crate) digest: String,
}
