//! [`Interface`]: the end of a cable at a host.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_units::Nanos;

/// A host's interface, connected to one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name inside the host: `eth0`, `eth1`, …
    pub name: String,
    /// The network, as an index into [`Lab::networks`](super::Lab::networks). A host has at most
    /// one interface on a network.
    pub network: usize,
    /// Its addresses, each with the network's prefix length in bits; never empty. The first is the
    /// main address, the others are additional source addresses.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Its hardware address. It is locally administered, unique in the lab, and the same in every
    /// `up` of the same file.
    pub mac: [u8; 6],
    /// The properties of its cable.
    pub link: Link,
    /// Position in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// The properties of a cable. Each value applies to each direction separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Maximum bit rate in bits per second; `None`: unlimited.
    pub rate_bits: Option<u64>,
    /// Extra one-way delay of every packet. It needs netem in the kernel.
    #[serde(with = "super::serde_with::nanos_option")]
    pub delay: Option<Nanos>,
    /// Lost packets per million.
    pub loss_ppm: u32,
}
