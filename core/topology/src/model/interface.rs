//! [`Interface`]: a host's end of a cable.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;
use wavetank_plan::Nanos;

/// A host's interface, joined to one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its name inside the host: `eth0`, `eth1`, …
    pub name: String,
    /// The network, by its place in [`Lab::networks`](super::Lab::networks). A host has one interface on a network.
    pub network: usize,
    /// Its addresses, each with the network's prefix in bits; never empty, the first one is the main one and the others
    /// are further source addresses.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Its hardware address: locally administered, unique in the lab, the same in every `up` of the same file.
    pub mac: [u8; 6],
    /// What its cable does to packets.
    pub link: Link,
    /// Where it stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}

/// What a cable does to packets; each value holds for either direction by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Most bits per second; `None`: as fast as the machine is.
    pub rate_bits: Option<u64>,
    /// Time that every packet takes longer, one way; only where the kernel has netem.
    #[serde(with = "super::serde_with::nanos_option")]
    pub delay: Option<Nanos>,
    /// Packets lost of a million.
    pub loss_ppm: u32,
}
