//! [`FleetLink`]: the link to the agents of a run: over ssh, a broker or their sockets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use wavetank_fleet::AgentId;
use wavetank_fleet::wire::ControllerFrame;
use wavetank_inventory::Host;
use wavetank_link::{Closed, StreamEvent, StreamHost, StreamLink};
use wavetank_nats::{Broker, NatsLink};
use wavetank_ssh::SshOptions;
use wavetank_units::{Code, UserError};

/// Folder of an agent, as a shell on its host reads it.
const AGENT_DIR: &str = "\"$HOME\"/.wavetank/agent";

/// How the agents of a fleet are reached.
#[derive(Debug)]
pub enum FleetReach {
    /// By ssh, and the sockets of the agents.
    Ssh {
        /// Options of ssh.
        options: SshOptions,
        /// Start the agents' ends by sudo.
        sudo: bool,
        /// Maximum number of simultaneous logins.
        at_once: usize,
    },
    /// Over a broker, to which the agents are connected.
    Broker(Box<Broker>),
    /// By the sockets of agents on this machine: the folder of each, by the name of its host.
    Sockets(BTreeMap<String, PathBuf>),
}

/// The controller's end.
#[derive(Debug)]
pub(super) enum FleetLink {
    Stream(StreamLink),
    Broker(NatsLink),
}

impl FleetLink {
    /// Starts to connect to the agents of `hosts`. The index of a host is that of its events.
    pub(super) fn start(hosts: Vec<Host>, reach: FleetReach) -> Result<Self, UserError> {
        let (program, link) = match reach {
            FleetReach::Ssh { options, sudo, at_once } => {
                let text = format!("exec {AGENT_DIR}/wavetank agent attach --dir {AGENT_DIR}");
                let streams = hosts.into_iter().map(|host| {
                    let (options, text) = (options.clone(), text.clone());
                    StreamHost {
                        name: host.name.clone(),
                        command: Box::new(move || options.attached(&host, &text, sudo)),
                    }
                });
                ("ssh", StreamLink::start(streams.collect(), at_once).map(Self::Stream))
            }
            FleetReach::Sockets(folders) => {
                let at_once = folders.len().max(1);
                let streams = hosts.into_iter().map(|host| {
                    let folder = folders.get(&host.name).cloned().unwrap_or_default();
                    StreamHost { name: host.name, command: Box::new(move || attach(&folder)) }
                });
                ("the link", StreamLink::start(streams.collect(), at_once).map(Self::Stream))
            }
            FleetReach::Broker(broker) => {
                let names = hosts.into_iter().map(|host| host.name).collect();
                ("the link", NatsLink::start(*broker, names).map(Self::Broker))
            }
        };
        link.map_err(|error| {
            let message = format!("cannot start {program}: {error}");
            UserError::refused(Code::FleetUnreachable, message, "look at `ulimit -u` and `ulimit -n`")
        })
    }

    /// Returns the next event, waiting at most `wait` (zero: without waiting).
    pub(super) fn receive(&self, wait: Duration) -> Option<StreamEvent> {
        match self {
            Self::Stream(link) => link.receive(wait),
            Self::Broker(link) => link.receive(wait),
        }
    }

    /// Sends to an agent without waiting.
    ///
    /// # Errors
    /// If this session of the agent has ended.
    pub(super) fn send(&self, to: AgentId, frame: ControllerFrame) -> Result<(), Closed> {
        match self {
            Self::Stream(link) => link.send(to, frame),
            Self::Broker(link) => link.send(to, frame),
        }
    }
}

/// Returns the command that connects its input and output to the agent in `folder`.
fn attach(folder: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "attach", "--dir"]).arg(folder);
    command
}
