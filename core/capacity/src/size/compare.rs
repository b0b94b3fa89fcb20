//! [`ComparisonColumn`]: N connections online compared with N requests per second, which are two
//! different loads.

use serde::Serialize;
use wavetank_units::quantity::{format_compact, format_grouped, show_size};
use wavetank_units::{Nanos, Rate};

use super::result::bits;
use super::{HostInventory, LoadDemand, PerSecond, Role, Sizing};

/// Heartbeat interval of a connection that is only online.
const HEARTBEAT: Nanos = Nanos::from_secs(60);

/// One load, in the rows that all of them have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparisonColumn {
    /// `1M online`, `1M a second`, `as asked`.
    pub name: String,
    /// Name and value of each row, the same names in each column.
    pub rows: Vec<(&'static str, String)>,
}

/// Returns a column for the requested number as connections, and one for it as requests per second.
/// If both were requested, a third column combines them.
pub fn columns(demand: &LoadDemand, means: &HostInventory) -> Vec<ComparisonColumn> {
    let connections = demand.connections;
    let whole = |flow: PerSecond| flow.count_in(Nanos::SECOND).max(1);
    let rate = if demand.requests.is_zero() || demand.held { connections } else { whole(demand.requests) };
    let count = if demand.requests.is_zero() || demand.asked_connections() { connections } else { rate };
    let service =
        if demand.exchange.service_given { demand.exchange.service } else { super::host_inventory::SERVICE };
    let exchange = super::TransactionProfile { service, ..demand.exchange };
    let online =
        LoadDemand::new(PerSecond::per(u128::from(count), HEARTBEAT), count, PerSecond::ZERO, exchange);
    let flow = PerSecond::from_rate(Rate::per_second(rate));
    let busy = LoadDemand::new(flow, flow.count_in(service).max(1), PerSecond::ZERO, exchange);
    let mut all = vec![
        column(format!("{} online", short(count)), &online, means),
        column(format!("{} a second", short(rate)), &busy, means),
    ];
    if !demand.requests.is_zero() {
        all.push(column("as asked".to_owned(), demand, means));
    }
    all
}

/// Formats a number as in a file if that is short; otherwise with three digits.
fn short(count: u64) -> String {
    Some(format_compact(count)).filter(|text| text.len() <= 5).unwrap_or_else(|| format_grouped(count))
}

fn column(name: String, demand: &LoadDemand, means: &HostInventory) -> ComparisonColumn {
    // Hosts that there are say nothing of what another load would take.
    let means = HostInventory { hosts: [None; 3], backends: None, ..means.clone() };
    let sizing = Sizing::compute(demand.clone(), &means);
    let tier = |role: Role| sizing.tiers.iter().find(|tier| tier.role == role);
    let ways = tier(Role::Load).map(|tier| tier.ways).unwrap_or_default();
    let memory =
        |role: Role| tier(role).map_or(0, |tier| tier.each.total(demand.connections, demand.in_flight));
    let answer = |what: &str| {
        let found = sizing.tuples.answers.iter().find(|answer| answer.what == what);
        found.map_or_else(|| "-".to_owned(), |answer| answer.value.show())
    };
    let mut rows = vec![
        ("requests a second", demand.requests.show()),
        ("open connections", format_grouped(demand.connections)),
        ("new connections", demand.opens.show()),
        ("requests in flight", format_grouped(demand.in_flight)),
        ("source addresses", answer("source_addresses")),
        ("memory of clients", show_size(memory(Role::Load))),
    ];
    if means.balancing == super::Balancing::Proxy {
        rows.push(("memory of balancers", show_size(memory(Role::Balancer))));
        rows.push(("back-end tuples", answer("backend_tuples")));
    }
    rows.push(("memory of servers", show_size(memory(Role::Server))));
    rows.push(("packets a second", ways.into.packets.plus(ways.out.packets).show()));
    rows.push(("to the clients", bits(ways.into.bits())));
    rows.push(("from the clients", bits(ways.out.bits())));
    for (role, row) in [(Role::Load, "load hosts"), (Role::Balancer, "balancers"), (Role::Server, "servers")]
    {
        if let Some(tier) = tier(role) {
            let known = !tier.limits.is_empty();
            rows.push((row, if known { format_grouped(tier.needed) } else { "?".to_owned() }));
        }
    }
    ComparisonColumn { name, rows }
}

impl LoadDemand {
    /// Whether the number of connections was asked for, and does not follow from a rate.
    fn asked_connections(&self) -> bool {
        self.held || self.asked.iter().any(|answer| answer.what == "connections" && answer.formula.is_empty())
    }
}
