//! [`PerConnection`]: what a client's connection takes of memory on a host of a role.

use wavetank_units::quantity::format_grouped;

use super::{Balancing, HostInventory, LoadDemand, Quantity, Role, SizingResult, TierSizing};
use wavetank_plan::EngineChoice;
use wavetank_plan::feasibility::{ConnectionEnd, MemoryModel, Transport};

/// Memory of one connection of a client on a host of a role, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerConnection {
    /// Sockets that the host has for it.
    pub sockets: u64,
    /// The kernel's bytes of all of them.
    pub kernel: u64,
    /// The program's bytes: wavetank's own; of a balancer nothing is known.
    pub user: u64,
    /// Additional bytes for each open request.
    pub under_way: u64,
}

impl PerConnection {
    /// On a host of `role`.
    pub fn for_role(role: Role, demand: &LoadDemand, means: &HostInventory) -> Self {
        let tls = demand.exchange.tls;
        let end = |end: ConnectionEnd, tls: bool| {
            MemoryModel::for_end(end, EngineChoice::Auto, Transport::tcp(tls))
        };
        let (sockets, all) = match (role, means.balancing) {
            (Role::Load, _) => (1, end(ConnectionEnd::Client, tls)),
            // A proxy ends the clients' TLS.
            (Role::Server, Balancing::Proxy) => (1, end(ConnectionEnd::Target, false)),
            (Role::Server, _) => (1, end(ConnectionEnd::Target, tls)),
            (Role::Balancer, Balancing::Proxy) => {
                let both = end(ConnectionEnd::Target, false).plus(end(ConnectionEnd::Client, false));
                (2, MemoryModel { user: 0, ..both })
            }
            (Role::Balancer, _) => return Self::default(),
        };
        Self { sockets, kernel: all.kernel, user: all.user, under_way: all.under_way }
    }

    /// Returns the memory of a connection without an open request.
    pub const fn idle(self) -> u64 {
        self.kernel + self.user
    }

    /// Returns the memory of this number of connections and open requests.
    pub const fn total(self, connections: u64, in_flight: u64) -> u64 {
        connections.saturating_mul(self.idle()).saturating_add(in_flight.saturating_mul(self.under_way))
    }
}

/// Memory of one host of each role, and what one connection takes of it.
pub(super) fn answers(tiers: &[TierSizing], demand: &LoadDemand) -> Vec<SizingResult> {
    let mut all = Vec::new();
    for tier in tiers.iter().filter(|tier| tier.each.sockets > 0) {
        let PerConnection { sockets, kernel, user, under_way } = tier.each;
        let (connections, busy) = (tier.connections_each(demand), demand.in_flight.div_ceil(tier.working()));
        let program = if user > 0 { format!(" + {user} B program") } else { String::new() };
        let kernel_of = match sockets {
            1 => format!("{kernel} B kernel"),
            more => format!("{kernel} B kernel of {more} sockets"),
        };
        let flight = if busy > 0 {
            format!(" + {} open × {under_way} B", format_grouped(busy))
        } else {
            String::new()
        };
        all.push(SizingResult {
            role: Some(tier.role),
            what: "memory_each",
            value: Quantity::Bytes(tier.memory_each(demand)),
            formula: format!("{} × ({kernel_of}{program}){flight}", format_grouped(connections)),
        });
    }
    all
}
