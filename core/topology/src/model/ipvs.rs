//! [`Ipvs`]: the kernel's own balancer, controlled by keepalived.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{Backend, BackendCheck, CustomProgram};

/// IPVS controlled by keepalived. The virtual addresses, sysctls and routes that it needs are
/// already part of its hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipvs {
    /// The virtual address.
    pub address: IpAddr,
    /// The balancer's interface that has it, as an index into
    /// [`Host::interfaces`](super::Host::interfaces).
    pub interface: usize,
    /// The servers behind it; never empty.
    pub servers: Vec<Backend>,
    /// keepalived's `lb_algo`: one of [`Ipvs::SCHEDULERS`].
    pub scheduler: String,
    /// keepalived's `lb_kind`.
    pub forward: IpvsForward,
    /// keepalived's checks of the servers; `None` if they are not checked.
    pub check: Option<BackendCheck>,
    /// The user's own keepalived binary and configuration.
    pub own: CustomProgram,
}

impl Ipvs {
    /// The allowed values of `scheduler`.
    pub const SCHEDULERS: [&'static str; 7] = ["mh", "rr", "wrr", "lc", "wlc", "sh", "dh"];
}

/// The way IPVS forwards packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IpvsForward {
    /// It forwards the frames. Responses do not return through the balancer.
    DirectRouting,
    /// It rewrites the addresses. Servers route responses through the balancer.
    Nat,
}
