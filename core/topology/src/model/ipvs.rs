//! [`Ipvs`]: the kernel's own balancer, driven by keepalived.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Backend, BackendCheck, CustomProgram};

/// IPVS by keepalived. Virtual addresses, sysctls and routes that it needs are those of its hosts already.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipvs {
    /// The virtual address.
    pub address: IpAddr,
    /// The balancer's interface that has it, by its place in [`Host::interfaces`](super::Host::interfaces).
    pub interface: usize,
    /// Behind it; never empty.
    pub servers: Vec<Backend>,
    /// keepalived's `lb_algo`: one of [`Ipvs::SCHEDULERS`].
    pub scheduler: String,
    /// keepalived's `lb_kind`.
    pub forward: IpvsForward,
    /// keepalived's checks; `None`: none.
    pub check: Option<BackendCheck>,
    /// The user's own keepalived and its configuration.
    pub own: CustomProgram,
}

impl Ipvs {
    /// Words that `scheduler` may be.
    pub const SCHEDULERS: [&'static str; 7] = ["mh", "rr", "wrr", "lc", "wlc", "sh", "dh"];
}

/// How IPVS passes packets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IpvsForward {
    /// By their frames; answers do not come back through the balancer.
    DirectRouting,
    /// By changing their addresses; servers route answers through the balancer.
    Nat,
}
