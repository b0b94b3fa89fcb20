//! What a load takes of hosts, ports, memory and network, reckoned before anybody builds it: `wavetank size`.
//!
//! Pure arithmetic in whole numbers. Nothing here is measured but what [`crate::footprint`] holds; what nobody can
//! reckon (how many requests a second a host can answer) is handed in, or told as unknown. Every number keeps the
//! formula that it comes of, with the numbers put in.

mod answer;
mod capacity;
mod compare;
mod demand;
mod flow;
mod means;
mod memory;
mod network;
mod of_plan;
mod ports;
mod role;
mod tier;
mod traffic;
mod tuning;
mod wishes;

pub use answer::{Answer, Quantity};
pub use capacity::RoleCapacity;
pub use compare::{Column, columns};
pub use demand::{CONNECTIONS_MAX, Closing, Demand, Exchange, LoadWords};
pub use flow::Flow;
pub use means::{ANSWER_BYTES, BYTES_MAX, Means, SERVICE, Setting};
pub use memory::PerConnection;
pub use of_plan::PlanBytes;
pub use ports::Tuples;
pub use role::{Balancing, Role};
pub use tier::{Limit, Tier, Ways};
pub use traffic::{Parcel, Traffic, Way};
pub use tuning::Tuning;
pub use wishes::{PortsWord, Wishes};

use crate::UserError;

/// What a load takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// The load.
    pub demand: Demand,
    /// Hosts of each role that there is.
    pub tiers: Vec<Tier>,
    /// Ports and addresses.
    pub tuples: Tuples,
    /// Memory of each role's hosts.
    pub memory: Vec<Answer>,
    /// What goes over their links.
    pub network: Vec<Answer>,
    /// Packets and bytes between clients and what they are connected to.
    pub traffic: Traffic,
    /// Limits to raise.
    pub tunings: Vec<Tuning>,
    /// What is too few or too small of what there is.
    pub lacking: Vec<UserError>,
    /// Worth knowing.
    pub notes: Vec<String>,
}

impl Sizing {
    /// Of `demand` on hosts as `means` say.
    pub fn of(demand: Demand, means: &Means) -> Self {
        let roles = Role::ALL.into_iter().filter(|role| means.has(*role));
        let tiers: Vec<Tier> = roles.map(|role| Tier::of(role, &demand, means)).collect();
        let tuples = Tuples::of(&demand, means, &tiers);
        let mut tunings: Vec<Tuning> =
            tiers.iter().flat_map(|tier| tuning::tunings(tier, tuples.per_source, &demand, means)).collect();
        let first = if means.balancing == Balancing::None { Role::Server } else { Role::Balancer };
        tunings.extend(tuning::neighbours(tuples.sources, first));
        let lacking: Vec<UserError> = tiers
            .iter()
            .filter_map(|tier| tier.lacking(&demand, means))
            .chain(tuples.lacking.iter().cloned())
            .collect();
        let notes = demand.notes.clone();
        let traffic = Traffic::of(&demand, demand.exchange.tls);
        let memory = memory::answers(&tiers, &demand);
        let network = network::answers(&traffic, &tiers, &demand, means);
        Self { demand, tiers, tuples, memory, network, traffic, tunings, lacking, notes }
    }
}
