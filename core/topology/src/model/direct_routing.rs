//! [`DirectRouting`]: forwards the frames of a connection. Responses do not return through the
//! balancer.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wavetank_units::Nanos;

use super::{Backend, BackendCheck};

/// Direct routing by nftables at the balancer's ingress hook. The
/// [`virtual_addresses`](super::Host::virtual_addresses) of the balancer and its servers already
/// contain the virtual address: answering at the balancer, silent at the servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectRouting {
    /// The virtual address.
    pub address: IpAddr,
    /// The balancer's interface for incoming and outgoing frames, as an index into
    /// [`Host::interfaces`](super::Host::interfaces). All servers are on that network.
    pub interface: usize,
    /// The servers behind it; never empty. All have the service's ports.
    pub servers: Vec<Backend>,
    /// Number of slots of the Maglev table; a prime.
    pub slots: u32,
    /// Lifetime of the entry of a connection after the last packet that refreshes it. It must be at
    /// least the longest silence of a connection.
    #[serde(with = "super::serde_with::nanos")]
    pub sticky: Nanos,
    /// Maximum number of remembered connections.
    pub flows_max: u64,
    /// The health check of the servers; `None` if they are not checked.
    pub check: Option<BackendCheck>,
}
