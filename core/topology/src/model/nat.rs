//! [`Nat`]: forwards connections by rewriting their addresses.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Backend, BackendCheck};

/// NAT by nftables at the balancer. The balancer's sysctls already enable forwarding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nat {
    /// The address that clients use: one of the balancer's own or a virtual address.
    pub address: IpAddr,
    /// The servers behind it, with addresses of the same family; never empty.
    pub servers: Vec<Backend>,
    /// Whether the balancer's address replaces the client's, so that responses return to the
    /// balancer. If not, the servers have routes to the client networks through the balancer
    /// ([`Host::routes`](super::Host::routes)).
    pub masquerade: bool,
    /// The health check of the servers; `None` if they are not checked.
    pub check: Option<BackendCheck>,
}
