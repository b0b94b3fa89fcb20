//! [`VirtualAddress`]: an address of a host in addition to those of its interfaces.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// An address that several hosts of a lab may have, or that moves between them. It is alone in its
/// prefix (/32, /128).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualAddress {
    /// The address.
    pub address: IpAddr,
    /// The interface that has it.
    pub at: VirtualPlace,
    /// The name by which the lab's hosts reach it. `None`: only by its address.
    pub name: Option<String>,
    /// Position in the file, or the service that needs it.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// The place of a virtual address on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VirtualPlace {
    /// On the interface with this index in [`Host::interfaces`](super::Host::interfaces). It
    /// answers ARP requests or neighbour solicitations.
    Answering(usize),
    /// On `lo`. The host accepts packets to it and answers no ARP request, for which its sysctls
    /// include `arp_ignore` and `arp_announce`. An IPv6 address needs no setting, since hosts never
    /// answer for it on another interface.
    Silent,
}
