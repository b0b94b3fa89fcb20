//! [`Lab`]: a whole cluster with every value resolved.

use std::net::IpAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Fault, Host, Network, Role, ServiceKind};

/// A resolved cluster of hosts on one machine. It refers to the file only by positions, which are
/// used in messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// Its name, made of at most 24 lower-case letters, digits and `-`. It fits unchanged into
    /// interface aliases and into names of folders and cgroups.
    pub name: String,
    /// The networks, in the order of the file; each becomes one bridge.
    pub networks: Vec<Network>,
    /// The hosts, in the order of the file, with patterns expanded.
    pub hosts: Vec<Host>,
    /// The faults of a run, sorted by time. Faults at the same time keep the order of the file.
    pub faults: Vec<Fault>,
}

impl Lab {
    /// Returns the host with this name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Returns the index in `hosts` of the host with this name.
    pub fn host_index(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// Returns the indices in `hosts` of the hosts that generate load.
    pub fn load_hosts(&self) -> impl Iterator<Item = usize> + '_ {
        let loads = self.hosts.iter().enumerate().filter(|(_, host)| host.role == Role::Load);
        loads.map(|(index, _)| index)
    }

    /// Sets the folder of each configuration of the user. Their names start at `folder`, the
    /// absolute path of the topology file's.
    pub fn place_configs(&mut self, folder: &Path) {
        for service in self.hosts.iter_mut().flat_map(|host| &mut host.services) {
            let own = match &mut service.kind {
                ServiceKind::Nginx(nginx) => &mut nginx.own,
                ServiceKind::Haproxy(haproxy) => &mut haproxy.own,
                ServiceKind::Ipvs(ipvs) => &mut ipvs.own,
                _ => continue,
            };
            if let Some(config) = &mut own.config {
                let place = folder.join(&config.name);
                config.folder = place.parent().and_then(Path::to_str).map(str::to_owned);
            }
        }
    }

    /// Returns the address by which host `from` reaches host `to` (indices into `hosts`). It is the
    /// first address of `to` on the first network that both share. Otherwise it is the first
    /// address of `to`, for which `from` needs a route. A host reaches itself by its own first
    /// address. `None` only if `to` has no network.
    pub fn source_address(&self, from: usize, to: usize) -> Option<IpAddr> {
        let (from, to) = (self.hosts.get(from)?, self.hosts.get(to)?);
        let shared = from.interfaces.iter().find_map(|own| {
            let there = to.interfaces.iter().find(|other| other.network == own.network)?;
            there.addresses.first()
        });
        let first = || to.interfaces.iter().find_map(|interface| interface.addresses.first());
        shared.or_else(first).map(|(address, _)| *address)
    }
}
