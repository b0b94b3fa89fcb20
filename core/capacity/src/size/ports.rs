//! Ports: source addresses of the load, and pairs of address and port behind a proxy.
//!
//! A connection is identified by four values: source address, source port, target address, target
//! port. One source address can therefore use all its ports once for each address and port of a
//! target. A limit of 64 thousand connections applies to a pair of addresses, not to a host.

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, Nanos, UserError};

use super::tier::host_count_text;
use super::{Balancing, HostInventory, LoadDemand, Quantity, Role, SizingResult, TierSizing};

/// The time after which Linux can distinguish a new connection from an old one with the same four
/// values (`tcp_tw_reuse_delay`). A load does not reuse its tuples before, and neither does a
/// balancer with `tcp_tw_reuse=1`.
const REST: Nanos = Nanos::SECOND;
/// Number of ports in the kernel's default range (`ip_local_port_range` 32768 to 60999).
pub(super) const KERNEL_PORTS: u64 = 28_232;

/// The ports that a load needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortBudget {
    /// The numbers.
    pub answers: Vec<SizingResult>,
    /// Missing ports or addresses.
    pub lacking: Vec<UserError>,
    /// Worth knowing.
    pub notes: Vec<String>,
    /// Connections of one source address of a load host.
    pub per_source: u64,
    /// Source addresses of all load hosts.
    pub sources: u64,
}

impl PortBudget {
    /// Computes the budget for a load on these hosts; `tiers` contains the existing ones of
    /// [`Role::ALL`].
    pub fn for_demand(demand: &LoadDemand, means: &HostInventory, tiers: &[TierSizing]) -> Self {
        let mut tuples = Self::default();
        tuples.of_load(demand, means, tiers);
        if means.balancing == Balancing::Proxy {
            tuples.of_proxy(demand, means, tiers);
        }
        tuples
    }

    fn add(&mut self, role: Role, what: &'static str, value: u64, formula: String) {
        self.answers.push(SizingResult { role: Some(role), what, value: Quantity::Count(value), formula });
    }

    fn of_load(&mut self, demand: &LoadDemand, means: &HostInventory, tiers: &[TierSizing]) {
        let (each, formula) = wanted(demand.connections, demand);
        let (ports, targets) = (means.load_ports, means.targets);
        let by_address = ports.saturating_mul(targets);
        let addresses = each.div_ceil(by_address.max(1)).max(1);
        let of_ports = match targets {
            1 => format!("{} ports", format_grouped(ports)),
            _ => format!("({} ports × {} targets)", format_grouped(ports), format_grouped(targets)),
        };
        let formula = if addresses == 1 {
            format!("{formula} fit into {of_ports} of one address: --source is not needed")
        } else {
            format!("⌈{formula} ÷ {of_ports}⌉")
        };
        self.sources = addresses;
        self.per_source = each.div_ceil(addresses);
        self.add(Role::Load, "source_addresses", addresses, formula);
        self.check_sources(demand, means, (addresses, by_address));
        let Some(load) = tiers.iter().find(|tier| tier.role == Role::Load) else { return };
        let hosts = load.have.unwrap_or(load.needed).max(1);
        if hosts > 1 {
            let formula = format!("⌈{} ÷ {}⌉", format_grouped(addresses), host_count_text(hosts));
            self.add(Role::Load, "addresses_each", addresses.div_ceil(hosts), formula);
        }
        if load.have.is_some() {
            let formula = format!("{} × {of_ports}, with one address each", host_count_text(hosts));
            self.add(Role::Load, "connections_by_ports", hosts.saturating_mul(by_address), formula);
        }
        if addresses > 1 {
            let all = each.div_ceil(ports.max(1));
            let formula = format!(
                "⌈{} ÷ {} ports⌉: the target's pairs of address and port count as well",
                format_grouped(each),
                format_grouped(ports)
            );
            self.add(Role::Load, "or_targets", all, formula);
        }
    }

    /// Whether the source addresses that there are suffice.
    fn check_sources(&mut self, demand: &LoadDemand, means: &HostInventory, (addresses, each): (u64, u64)) {
        let Some(sources) = means.sources else { return };
        let room = sources.saturating_mul(each);
        let formula = format!("{} × {}", addresses_word(sources), format_grouped(each));
        self.add(Role::Load, "connections_by_sources", room, formula.clone());
        if sources >= addresses {
            return;
        }
        let message = format!(
            "{formula} = {} connections, not {}",
            format_grouped(room),
            format_grouped(demand.connections)
        );
        let hint = format!("it takes {}: --source CIDR", addresses_word(addresses));
        self.lacking.push(UserError::refused(Code::NoSourceAddress, message, hint));
    }

    fn of_proxy(&mut self, demand: &LoadDemand, means: &HostInventory, tiers: &[TierSizing]) {
        let Some(balancer) = tiers.iter().find(|tier| tier.role == Role::Balancer) else { return };
        let established = demand.connections.saturating_mul(2);
        let formula =
            format!("2 × {}: one to the client, one to a server", format_grouped(demand.connections));
        self.add(Role::Balancer, "established", established, formula);
        let working = balancer.working();
        let own = demand.connections.div_ceil(working);
        let (each, formula) = wanted(own, demand);
        let ports = means.balancer_ports.max(1);
        let tuples = each.div_ceil(ports).max(1);
        let on_each = if working > 1 { format!(" on each of {working} balancers") } else { String::new() };
        let formula = format!("⌈{formula}{on_each} ÷ {} ports⌉", format_grouped(ports));
        self.add(Role::Balancer, "backend_tuples", tuples, formula);
        let quick = each.saturating_mul(2).div_ceil(ports).max(1);
        if quick > tuples {
            let formula = format!(
                "⌈{} ÷ (50 % of {} ports)⌉: past half the kernel searches for each",
                format_grouped(each),
                format_grouped(ports)
            );
            self.add(Role::Balancer, "quick_tuples", quick, formula);
        }
        if let Some(server) = tiers.iter().find(|tier| tier.role == Role::Server) {
            let servers = server.working();
            let formula = format!("⌈{} ÷ {}⌉", format_grouped(tuples), host_count_text(servers));
            self.add(Role::Server, "ports_each", tuples.div_ceil(servers), formula);
        }
        self.check_backends(demand, means, (each, working, tuples));
    }

    /// Whether the back ends that there are suffice.
    fn check_backends(
        &mut self,
        demand: &LoadDemand,
        means: &HostInventory,
        (each, working, tuples): (u64, u64, u64),
    ) {
        let Some(backends) = means.backends else { return };
        let ports = means.balancer_ports;
        let room = backends.saturating_mul(ports);
        let formula = format!("{} back ends × {} ports", format_grouped(backends), format_grouped(ports));
        self.add(Role::Balancer, "connections_by_ports", room, format!("{formula}, of each balancer"));
        if room >= each {
            return;
        }
        let wanted = if working > 1 {
            format!("{} on each of {working} balancers", format_grouped(each))
        } else {
            format_grouped(demand.connections)
        };
        let message = format!(
            "{formula} = {} connections, not {wanted}: the balancer's ports are exhausted",
            format_grouped(room)
        );
        let hint = format!(
            "{} pairs of address and port to connect to: servers may listen on several ports each; or more addresses of the balancer's own",
            format_grouped(tuples)
        );
        self.lacking.push(UserError::refused(Code::NoBackendPorts, message, hint));
    }
}

fn addresses_word(count: u64) -> String {
    if count == 1 {
        "1 source address".to_owned()
    } else {
        format!("{} source addresses", format_grouped(count))
    }
}

/// Tuples that `connections` take with those that rest after their use.
fn wanted(connections: u64, demand: &LoadDemand) -> (u64, String) {
    // A share of the connections has the same share of what ends.
    let resting = u128::from(demand.opens.count_in(REST)) * u128::from(connections);
    let resting = u64::try_from(resting.div_ceil(u128::from(demand.connections.max(1)))).unwrap_or(u64::MAX);
    let each = connections.saturating_add(resting);
    let formula = if resting == 0 {
        format_grouped(connections)
    } else {
        format!("({} + {} that rest 1 s)", format_grouped(connections), format_grouped(resting))
    };
    (each, formula)
}
