//! [`Nat`]: connections passed on by changing their addresses.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Backend, BackendCheck};

/// NAT by nftables at the balancer, whose forwarding is among its sysctls already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nat {
    /// The address that clients know: one of the balancer's own or a virtual one.
    pub address: IpAddr,
    /// Behind it, with addresses of the same family; never empty.
    pub servers: Vec<Backend>,
    /// Whether the balancer's address stands in for the client's, so that answers come back to it. If not, the servers
    /// have routes through the balancer ([`Host::routes`](super::Host::routes)) to the networks of clients.
    pub masquerade: bool,
    /// How a dead server is found; `None`: nobody looks.
    pub check: Option<BackendCheck>,
}
