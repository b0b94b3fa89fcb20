//! The hosts, ports, memory and network that a load needs, computed before anything is built:
//! `wavetank size`.
//!
//! Pure arithmetic in whole numbers. The only measured numbers are those in
//! [`wavetank_plan::MemoryModel`]. The request rate of a host cannot be computed: the user provides
//! it, or it is reported as unknown. Every number keeps the formula from which it was computed,
//! with the numbers filled in.

mod capacity;
mod compare;
mod demand;
mod flow;
mod host_inventory;
mod memory;
mod network;
mod options;
mod plan_demand;
mod ports;
mod result;
mod role;
mod tier;
mod traffic;
mod tuning;

pub use capacity::RoleCapacity;
pub use compare::{ComparisonColumn, columns};
pub use demand::{CONNECTIONS_MAX, CloseSide, LoadDemand, LoadOptions, TransactionProfile};
pub use flow::PerSecond;
pub use host_inventory::{ANSWER_BYTES, BYTES_MAX, HostInventory, SERVICE, Setting};
pub use memory::PerConnection;
pub use options::{PortsOption, SizeOptions};
pub use plan_demand::PlanBytes;
pub use ports::PortBudget;
pub use result::{Quantity, SizingResult};
pub use role::{Balancing, Role};
pub use tier::{Limit, NetworkUse, TierSizing};
pub use traffic::{Direction, PacketCount, Traffic};
pub use tuning::Tuning;

use wavetank_units::UserError;

/// The resources that a load needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizing {
    /// The load.
    pub demand: LoadDemand,
    /// Hosts of each role that there is.
    pub tiers: Vec<TierSizing>,
    /// Ports and addresses.
    pub tuples: PortBudget,
    /// Memory of each role's hosts.
    pub memory: Vec<SizingResult>,
    /// The traffic of their links.
    pub network: Vec<SizingResult>,
    /// Packets and bytes between clients and what they are connected to.
    pub traffic: Traffic,
    /// Limits to raise.
    pub tunings: Vec<Tuning>,
    /// Resources that are too few or too small.
    pub lacking: Vec<UserError>,
    /// Worth knowing.
    pub notes: Vec<String>,
}

impl Sizing {
    /// Computes the sizing of `demand` on hosts as in `means`.
    pub fn compute(demand: LoadDemand, means: &HostInventory) -> Self {
        let roles = Role::ALL.into_iter().filter(|role| means.has(*role));
        let tiers: Vec<TierSizing> = roles.map(|role| TierSizing::for_role(role, &demand, means)).collect();
        let tuples = PortBudget::for_demand(&demand, means, &tiers);
        let mut tunings: Vec<Tuning> =
            tiers.iter().flat_map(|tier| tuning::tunings(tier, tuples.per_source, &demand, means)).collect();
        let first = if means.balancing == Balancing::None { Role::Server } else { Role::Balancer };
        tunings.extend(tuning::neighbours(tuples.sources, first));
        let lacking: Vec<UserError> = tiers
            .iter()
            .filter_map(|tier| tier.missing(&demand, means))
            .chain(tuples.lacking.iter().cloned())
            .collect();
        let notes = demand.notes.clone();
        let traffic = Traffic::for_demand(&demand, demand.exchange.tls);
        let memory = memory::answers(&tiers, &demand);
        let network = network::answers(&traffic, &tiers, &demand, means);
        Self { demand, tiers, tuples, memory, network, traffic, tunings, lacking, notes }
    }
}
