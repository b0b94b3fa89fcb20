//! [`BrokerFolder`]: the files of `wavetank fleet broker init`, and where the broker is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wavetank_inventory::{FleetFile, FleetLink};
use wavetank_units::{Code, UserError};

use super::program_file::file_digest;

/// File with the controller's seed.
pub(super) const CONTROLLER_SEED: &str = "controller.seed";
/// File with the certificate that controller and agents trust.
pub(super) const CA: &str = "ca.pem";
/// Configuration of nats-server.
pub(super) const CONFIG: &str = "nats-server.conf";
/// File with the ports of tunnels, of a broker that `fleet up` starts.
const PORTS: &str = "ports";

/// The folder of a fleet's broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrokerFolder {
    pub(super) dir: PathBuf,
    /// Name of the fleet.
    pub(super) fleet: String,
    address: BrokerAddress,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum BrokerAddress {
    /// The same for controller and agents.
    Url(String),
    /// A loopback port of the controller's host, and one of each agent's host.
    Ports(BrokerPorts),
}

/// Loopback ports of a broker that is reached through tunnels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BrokerPorts {
    /// On the controller's host.
    pub(super) own: u16,
    /// On the host of each agent, by its name.
    pub(super) agents: Vec<(String, u16)>,
}

/// How an agent reaches its broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AgentLink {
    pub(super) url: String,
    /// Name of the fleet.
    pub(super) fleet: String,
    /// The certificate to trust, and the SHA-256 of the file.
    pub(super) ca: (PathBuf, String),
    /// The agent's seed, and the SHA-256 of the file.
    pub(super) seed: (PathBuf, String),
}

impl BrokerFolder {
    /// Returns the folder of a fleet's broker, if its link is one: the named folder, or that next
    /// to the fleet file.
    ///
    /// # Errors
    /// If the folder lacks the ports of tunnels.
    pub(super) fn read(
        fleet: &FleetFile,
        named: Option<&Path>,
        file: &Path,
    ) -> Result<Option<Self>, UserError> {
        let dir = broker_dir(named, file);
        let address = match &fleet.link {
            FleetLink::Ssh => return Ok(None),
            FleetLink::Nats(url) => BrokerAddress::Url(url.clone()),
            FleetLink::NatsTunnel => {
                let path = dir.join(PORTS);
                let text = std::fs::read_to_string(&path).map_err(|error| unusable(&path, &error))?;
                let ports = BrokerPorts::parse(&text).ok_or_else(|| unusable(&path, &"it is damaged"))?;
                BrokerAddress::Ports(ports)
            }
        };
        Ok(Some(Self { dir, fleet: fleet.name.clone(), address }))
    }

    /// Returns the URL by which the controller reaches the broker.
    pub(super) fn url(&self) -> String {
        match &self.address {
            BrokerAddress::Url(url) => url.clone(),
            BrokerAddress::Ports(ports) => loopback(ports.own),
        }
    }

    /// The ports, if `fleet up` starts the broker.
    pub(super) const fn ports(&self) -> Option<&BrokerPorts> {
        match &self.address {
            BrokerAddress::Url(_) => None,
            BrokerAddress::Ports(ports) => Some(ports),
        }
    }

    /// Returns how the agent with this name reaches the broker.
    ///
    /// # Errors
    /// If the agent has no key or no port, because it was added to the fleet later.
    pub(super) fn agent_link(&self, agent: &str) -> Result<AgentLink, UserError> {
        let file = |name: &str| {
            let path = self.dir.join(name);
            match file_digest(&path) {
                Ok(digest) => Ok((path, digest)),
                Err(error) => Err(unusable(&path, &error)),
            }
        };
        let url = match &self.address {
            BrokerAddress::Url(url) => url.clone(),
            BrokerAddress::Ports(ports) => {
                let port = ports.agents.iter().find(|(name, _)| name == agent).map(|(_, port)| *port);
                let missing = || unusable(&self.dir.join(PORTS), &format!("it has no port for {agent}"));
                loopback(port.ok_or_else(missing)?)
            }
        };
        Ok(AgentLink { url, fleet: self.fleet.clone(), ca: file(CA)?, seed: file(&seed_file(agent))? })
    }
}

impl BrokerPorts {
    /// Returns the name and the text of the file with the ports.
    pub(super) fn file(&self) -> (&'static str, String) {
        let mut text = format!("{}\n", self.own);
        for (agent, port) in &self.agents {
            let _ = writeln!(text, "{port} {agent}");
        }
        (PORTS, text)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let own = lines.next()?.parse().ok()?;
        let agent = |line: &str| {
            let (port, agent) = line.split_once(' ')?;
            Some((agent.to_owned(), port.parse().ok()?))
        };
        Some(Self { own, agents: lines.map(agent).collect::<Option<_>>()? })
    }
}

/// Returns the folder of a fleet's broker: the named one, or that next to the fleet file.
pub(super) fn broker_dir(named: Option<&Path>, fleet: &Path) -> PathBuf {
    named.map_or_else(|| fleet.with_extension("broker"), Path::to_owned)
}

/// Returns the name of the file with an agent's seed.
pub(super) fn seed_file(agent: &str) -> String {
    let name: String = agent.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    format!("agent-{name}.seed")
}

fn loopback(port: u16) -> String {
    format!("nats://127.0.0.1:{port}")
}

fn unusable(path: &Path, reason: &dyn std::fmt::Display) -> UserError {
    let message = format!("cannot use the broker's file {}: {reason}", path.display());
    UserError::usage(Code::BadBroker, message, "make all files: wavetank fleet broker init --fleet FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_as_they_were_written() {
        let agents = vec![("load 1".to_owned(), 41_001), ("b".to_owned(), 41_002)];
        let ports = BrokerPorts { own: 41_000, agents };
        assert_eq!(BrokerPorts::parse(&ports.file().1), Some(ports));
        for text in ["", "x\n", "1\n2\n", "1\nx a\n", "70000\n"] {
            assert_eq!(BrokerPorts::parse(text), None, "{text:?}");
        }
    }
}
