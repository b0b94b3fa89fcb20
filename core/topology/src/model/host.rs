//! [`Host`]: one host of a lab.

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

use super::{HostFile, Interface, Limits, Role, Route, Service, Sysctl, VirtualAddress};

/// A host: namespaces of its own, with all that stands in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name, which is its hostname too and resolves in every host of the lab: lower-case letters, digits and `-`.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// Its interfaces, `eth0` first, in the order in which its networks stand in the file; `lo` is not among them.
    pub interfaces: Vec<Interface>,
    /// Addresses beside those of its interfaces. Silent ones must come after the sysctls, so that no host answers for
    /// them even for an instant.
    pub virtual_addresses: Vec<VirtualAddress>,
    /// Routes beside those that the interfaces' subnets make.
    pub routes: Vec<Route>,
    /// Kernel settings, in the order in which they have to be written (`ip_forward` first: writing it resets others).
    /// Each key once.
    pub sysctls: Vec<Sysctl>,
    /// Files over its `/etc`.
    pub files: Vec<HostFile>,
    /// What it may use of the machine.
    pub limits: Limits,
    /// Whether an SSH server is wanted on it, on port 22.
    pub sshd: bool,
    /// What runs on it, in the order in which it is started; it is stopped the other way round.
    pub services: Vec<Service>,
    /// Where its name stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

impl Host {
    /// The service of that name.
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// The interface on the network with that place in the lab's list.
    pub fn interface_on(&self, network: usize) -> Option<&Interface> {
        self.interfaces.iter().find(|interface| interface.network == network)
    }
}
