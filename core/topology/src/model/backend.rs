//! [`Backend`]: whom a balancer passes connections on to.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_grammar::Span;

/// A server behind a balancer, as the balancer reaches it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backend {
    /// The host, by its place in [`Lab::hosts`](super::Lab::hosts).
    pub host: usize,
    /// The host's name.
    pub name: String,
    /// Its address on a network that the balancer is on too.
    pub address: IpAddr,
    /// Its port. Direct routing changes no port: there it is the balancer's.
    pub port: u16,
    /// Hardware address of its interface on that network.
    pub mac: [u8; 6],
    /// The balancer's own interface on that network, by its place in the balancer's
    /// [`Host::interfaces`](super::Host::interfaces).
    pub interface: usize,
    /// Its part of the connections, relative to the others', from 1.
    pub weight: u32,
    /// Where it stands in the file.
    #[serde(with = "super::serde_with::place")]
    pub place: Span,
}
