//! [`Host`]: one host of a lab.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

use super::{HostFile, Interface, Limits, Role, Route, Service, Sysctl, VirtualAddress};

/// A host with its own namespaces and everything in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name, made of lower-case letters, digits and `-`. It is also the hostname and resolves
    /// in every host of the lab.
    pub name: String,
    /// The purpose of the host.
    pub role: Role,
    /// Its interfaces in the order of its networks in the file, starting with `eth0`. `lo` is not
    /// included.
    pub interfaces: Vec<Interface>,
    /// Addresses in addition to those of its interfaces. Silent ones must be added after the
    /// sysctls are set. Otherwise the host could answer for them for an instant.
    pub virtual_addresses: Vec<VirtualAddress>,
    /// Routes in addition to those created by the interfaces' subnets.
    pub routes: Vec<Route>,
    /// Kernel settings in the order in which they must be written. Writing `ip_forward` resets
    /// other settings, so it comes first. Each key occurs once.
    pub sysctls: Vec<Sysctl>,
    /// Files laid over its `/etc`.
    pub files: Vec<HostFile>,
    /// Its resource limits.
    pub limits: Limits,
    /// Whether an SSH server runs on it, on port 22.
    pub sshd: bool,
    /// Its services in the order in which they are started. They are stopped in reverse order.
    pub services: Vec<Service>,
    /// Position of its name in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

impl Host {
    /// Returns the service with this name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// Returns the interface on the network with this index in the lab's list.
    pub fn interface_on(&self, network: usize) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.network == network)
    }
}
