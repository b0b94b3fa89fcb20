//! [`DirectRouting`]: connections passed on by their frames, answers that do not come back through the balancer.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_plan::Nanos;

use super::{Backend, BackendCheck};

/// Direct routing by nftables at the balancer's ingress. The balancer and its servers have the virtual address among
/// their [`virtual_addresses`](super::Host::virtual_addresses) already: answering at the balancer, silent at the servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectRouting {
    /// The virtual address.
    pub address: IpAddr,
    /// The balancer's interface on which frames come in and go out, by its place in
    /// [`Host::interfaces`](super::Host::interfaces): all servers are on that network.
    pub interface: usize,
    /// Behind it; never empty, all with the service's ports.
    pub servers: Vec<Backend>,
    /// Slots of the Maglev table: a prime.
    pub slots: u32,
    /// How long a connection is remembered after its last packet that refreshes it; at least as long as the longest
    /// connection may be silent.
    #[serde(with = "super::serde_with::nanos")]
    pub sticky: Nanos,
    /// Most connections that are remembered.
    pub flows_max: u64,
    /// How a dead server is found; `None`: nobody looks.
    pub check: Option<BackendCheck>,
}
