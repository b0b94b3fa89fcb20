//! [`Lab`]: a whole cluster, every number fixed.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Fault, Host, Network, Role};

/// A cluster of hosts on one machine, resolved: nothing in it refers to the file any more but the places, which are
/// there for messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lab {
    /// Its name: lower-case letters, digits and `-`, at most 24 of them, so that it fits into names of interfaces'
    /// aliases, folders and cgroups as it is.
    pub name: String,
    /// The networks, in the order of the file; each becomes one bridge.
    pub networks: Vec<Network>,
    /// The hosts, in the order of the file, patterns written out.
    pub hosts: Vec<Host>,
    /// What goes wrong in a run, by time; those of one time in the order of the file.
    pub faults: Vec<Fault>,
}

impl Lab {
    /// The host of that name.
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Where the host of that name stands in `hosts`.
    pub fn host_index(&self, name: &str) -> Option<usize> {
        self.hosts.iter().position(|host| host.name == name)
    }

    /// The hosts that make load, by their places in `hosts`.
    pub fn load_hosts(&self) -> impl Iterator<Item = usize> + '_ {
        let loads = self.hosts.iter().enumerate().filter(|(_, host)| host.role == Role::Load);
        loads.map(|(index, _)| index)
    }

    /// By which address host `from` reaches host `to` (places in `hosts`): the first one of `to` on the first network
    /// that both are on, else the first one that `to` has at all, for which `from` needs a route. The same host is
    /// reached by its own first address. `None` only for a host without any network.
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
