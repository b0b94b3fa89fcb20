//! [`VirtualAddress`]: an address that a host has beside its own.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// An address that several hosts of a lab may have, or that moves between them; alone in its prefix (/32, /128).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualAddress {
    /// The address.
    pub address: IpAddr,
    /// Where the host has it.
    pub at: VirtualPlace,
    /// The name by which the lab's hosts reach it; `None`: by its number only.
    pub name: Option<String>,
    /// Where it stands in the file, or the service that brought it.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// Where a host has a virtual address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VirtualPlace {
    /// On the interface with this place in [`Host::interfaces`](super::Host::interfaces): it answers ARP, or
    /// neighbour solicitations.
    Answering(usize),
    /// On `lo`: it takes what is sent to it and answers no ARP, for which `arp_ignore` and `arp_announce` are among the
    /// host's sysctls; for an address of IPv6 nobody answers on another interface anyway.
    Silent,
}
