//! [`Backend`]: a server that a balancer passes connections to.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A server behind a balancer, as the balancer reaches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    /// The host, as an index into [`Lab::hosts`](super::Lab::hosts).
    pub host: usize,
    /// The host's name.
    pub name: String,
    /// Its address on a network that it shares with the balancer.
    pub address: IpAddr,
    /// Its port. For direct routing it equals the balancer's port, which cannot be changed on the
    /// way.
    pub port: u16,
    /// Hardware address of its interface on that network.
    pub mac: [u8; 6],
    /// The balancer's own interface on that network, as an index into the balancer's
    /// [`Host::interfaces`](super::Host::interfaces).
    pub interface: usize,
    /// Its share of the connections relative to the other servers, from 1.
    pub weight: u32,
    /// Position in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
