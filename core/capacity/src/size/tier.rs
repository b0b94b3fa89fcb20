//! [`TierSizing`]: how many hosts of one role it takes, and why.

use serde::Serialize;
use wavetank_units::quantity::{format_grouped, show_size};
use wavetank_units::{Code, Nanos, UserError};

use super::memory::PerConnection;
use super::result::bits;
use super::traffic::Direction;
use super::{Balancing, HostInventory, LoadDemand, PerSecond, Role, Traffic};
use wavetank_plan::feasibility::plannable_bytes;

/// Part of a link that may be filled: above it queues grow.
const LINK_PART: (u64, u64) = (17, 20);

/// How many hosts of one role it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TierSizing {
    /// Which role.
    pub role: Role,
    /// Hosts that it takes, spare ones included.
    pub needed: u64,
    /// Spare hosts among them, which may fail.
    pub spare: u64,
    /// Existing hosts, if given.
    pub have: Option<u64>,
    /// The number of hosts that each resource requires, without spare ones; the highest is first.
    pub limits: Vec<Limit>,
    /// Both ways of all links of the role together.
    pub ways: NetworkUse,
    /// Memory of one client's connection on a host of the role.
    pub each: PerConnection,
}

/// Hosts that one thing asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// `requests`, `connections`, `memory` or `link`.
    pub what: &'static str,
    /// Number of hosts.
    pub hosts: u64,
    /// `⌈1M/s ÷ 270k/s⌉`.
    pub formula: String,
}

/// The traffic into hosts and out of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkUse {
    /// Into them.
    pub into: Direction,
    /// Out of them.
    pub out: Direction,
}

impl TierSizing {
    /// Computes the tier for a load.
    pub fn for_role(role: Role, demand: &LoadDemand, means: &HostInventory) -> Self {
        let ways = NetworkUse::for_role(role, demand, means);
        let each = PerConnection::for_role(role, demand, means);
        let mut limits = limits(role, demand, means, ways, each);
        limits.sort_by_key(|limit| std::cmp::Reverse(limit.hosts));
        let working = limits.first().map_or(1, |limit| limit.hosts);
        let spare = means.spare_hosts(role);
        Self {
            role,
            needed: working.saturating_add(spare),
            spare,
            have: means.hosts[role as usize],
            limits,
            ways,
            each,
        }
    }

    /// Hosts that share the load at worst: with the spare ones gone.
    pub fn working(&self) -> u64 {
        match self.have {
            Some(have) if have < self.needed => have,
            have => have.unwrap_or(self.needed).saturating_sub(self.spare).max(1),
        }
    }

    /// Clients' connections on one of them.
    pub fn connections_each(&self, demand: &LoadDemand) -> u64 {
        demand.connections.div_ceil(self.working())
    }

    /// Memory of all connections on one of them.
    pub fn memory_each(&self, demand: &LoadDemand) -> u64 {
        self.each.total(self.connections_each(demand), demand.in_flight.div_ceil(self.working()))
    }

    /// Returns the error if there are too few hosts.
    pub fn missing(&self, demand: &LoadDemand, means: &HostInventory) -> Option<UserError> {
        let have = self.have.filter(|have| *have < self.needed)?;
        let limit = self.limits.first()?;
        let name = self.role.name();
        let gone = if self.spare > 0 { format!(" with {} spare", self.spare) } else { String::new() };
        let message = match (limit.what, means.capacity[self.role as usize].requests) {
            ("requests", Some(each)) => format!(
                "{} in the role {name} × {} = {}, not {}",
                host_count_text(have),
                each.show(),
                each.times(u128::from(have)).show(),
                demand.requests.show()
            ),
            ("connections", _) => {
                let each = means.capacity[self.role as usize].connections.unwrap_or(0);
                format!(
                    "{} in the role {name} × {} = {} connections, not {}",
                    host_count_text(have),
                    format_grouped(each),
                    format_grouped(have.saturating_mul(each)),
                    format_grouped(demand.connections)
                )
            }
            (what, _) => format!("{} in the role {name} have too little {what}", host_count_text(have)),
        };
        let hint = format!("it takes {}{gone}: {}", host_count_text(self.needed), limit.formula);
        Some(UserError::refused(Code::TooFewHosts, message, hint))
    }
}

/// `1 host`, `7 hosts`.
pub(super) fn host_count_text(count: u64) -> String {
    if count == 1 { "1 host".to_owned() } else { format!("{} hosts", format_grouped(count)) }
}

fn limits(
    role: Role,
    demand: &LoadDemand,
    means: &HostInventory,
    ways: NetworkUse,
    each: PerConnection,
) -> Vec<Limit> {
    let capacity = means.capacity[role as usize];
    let mut all = Vec::new();
    if let Some(own) = capacity.requests.filter(|_| !demand.requests.is_zero()) {
        let formula = format!("⌈{} ÷ {}⌉", demand.requests.show(), own.show());
        all.push(Limit { what: "requests", hosts: demand.requests.units_needed(own), formula });
    }
    if let Some(own) = capacity.connections {
        let formula =
            format!("⌈{} connections ÷ {}⌉", format_grouped(demand.connections), format_grouped(own));
        all.push(Limit { what: "connections", hosts: demand.connections.div_ceil(own.max(1)), formula });
    }
    if let Some(memory) = means.memory.filter(|_| each.idle() > 0) {
        let wanted = each.total(demand.connections, demand.in_flight);
        let usable = plannable_bytes(memory).max(1);
        let formula = format!("⌈{} ÷ {} of {}⌉", show_size(wanted), show_size(usable), show_size(memory));
        all.push(Limit { what: "memory", hosts: wanted.div_ceil(usable), formula });
    }
    if let Some(link) = means.link {
        let wanted = ways.into.bits().max(ways.out.bits());
        let usable =
            PerSecond::per(u128::from(link) * u128::from(LINK_PART.0), Nanos::SECOND).part(LINK_PART.1);
        let all_bits = PerSecond::per(u128::from(link), Nanos::SECOND);
        let formula = format!("⌈{} ÷ ({} × 85 %)⌉", bits(wanted), bits(all_bits));
        all.push(Limit { what: "link", hosts: wanted.units_needed(usable).max(1), formula });
    }
    all
}

impl NetworkUse {
    /// Returns the traffic of a role. Clients' bytes go into the servers. A proxy forwards them in
    /// its own connections, and a director forwards only the traffic from clients.
    fn for_role(role: Role, demand: &LoadDemand, means: &HostInventory) -> Self {
        let front = Traffic::for_demand(demand, demand.exchange.tls);
        let back = match means.balancing {
            Balancing::Proxy => Traffic::for_demand(demand, false),
            Balancing::None | Balancing::Direct => front,
        };
        match (role, means.balancing) {
            (Role::Load, _) => Self { into: front.down, out: front.up },
            (Role::Balancer, Balancing::Proxy) => {
                Self { into: front.up.plus(back.down), out: front.down.plus(back.up) }
            }
            (Role::Balancer, _) => Self { into: front.up, out: front.up },
            (Role::Server, _) => Self { into: back.up, out: back.down },
        }
    }
}
