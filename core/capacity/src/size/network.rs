//! The traffic of links: of one request, of one connection, and in and out of each host.

use wavetank_units::quantity::format_grouped;

use super::tier::host_count_text;
use super::traffic::{Direction, FRAME_BYTES};
use super::{
    Balancing, HostInventory, LoadDemand, PacketCount, PerSecond, Quantity, Role, SizingResult, TierSizing,
    Traffic,
};

/// The numbers, with their formulas.
pub(super) fn answers(
    traffic: &Traffic,
    tiers: &[TierSizing],
    demand: &LoadDemand,
    means: &HostInventory,
) -> Vec<SizingResult> {
    let mut all = Vec::new();
    let one = |what: &'static str, parcel: PacketCount, of: &str| SizingResult {
        role: None,
        what,
        value: Quantity::Bytes(parcel.bytes()),
        formula: format!("{} B{of} + {} × {FRAME_BYTES} B", parcel.data, packets(parcel.packets)),
    };
    if !demand.requests.is_zero() {
        let of = if demand.exchange.tls { " with TLS records" } else { "" };
        all.push(one("request_up", traffic.each[0], of));
        all.push(one("answer_down", traffic.each[1], of));
    }
    if !demand.opens.is_zero() {
        let of = if demand.exchange.tls { " of handshake" } else { "" };
        all.push(one("connection_up", traffic.around[0], of));
        all.push(one("connection_down", traffic.around[1], of));
    }
    // Connections that are held in silence send nothing.
    if demand.requests.is_zero() && demand.opens.is_zero() {
        return all;
    }
    for tier in tiers {
        let (into, out) = formulas(tier.role, demand, means);
        for (what, packets, way, formula) in
            [("in", "in_packets", tier.ways.into, into), ("out", "out_packets", tier.ways.out, out)]
        {
            all.extend(host(tier.role, (what, packets), way, tier.working(), &formula));
        }
    }
    all
}

/// Bits and packets of one of `working` hosts.
fn host(
    role: Role,
    (what, packets): (&'static str, &'static str),
    way: Direction,
    working: u64,
    formula: &str,
) -> Vec<SizingResult> {
    let shared = if working > 1 { format!(" ÷ {}", host_count_text(working)) } else { String::new() };
    let bits = SizingResult {
        role: Some(role),
        what,
        value: Quantity::BitsPerSecond(way.bits().part(working)),
        formula: format!("{formula}{shared}"),
    };
    let packets = SizingResult {
        role: Some(role),
        what: packets,
        value: Quantity::PerSecond(way.packets.part(working)),
        formula: String::new(),
    };
    vec![bits, packets]
}

/// Returns the formulas for the traffic into hosts of a role and out of them.
fn formulas(role: Role, demand: &LoadDemand, means: &HostInventory) -> (String, String) {
    let front = Traffic::for_demand(demand, demand.exchange.tls);
    let behind = demand.exchange.tls && means.balancing != Balancing::Proxy;
    let back = Traffic::for_demand(demand, behind);
    let sum = |traffic: &Traffic, way: usize| {
        let of = |flow: PerSecond, parcel: PacketCount| {
            (!flow.is_zero()).then(|| format!("{} × {} B", flow.show(), parcel.bytes()))
        };
        let parts = [of(demand.requests, traffic.each[way]), of(demand.opens, traffic.around[way])];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" + ")
    };
    let bits = |sum: String| if sum.contains('+') { format!("({sum}) × 8") } else { format!("{sum} × 8") };
    match (role, means.balancing) {
        (Role::Load, _) => (bits(sum(&front, 1)), bits(sum(&front, 0))),
        (Role::Balancer, Balancing::Proxy) => (
            bits(format!("{} + {}", sum(&front, 0), sum(&back, 1))),
            bits(format!("{} + {}", sum(&front, 1), sum(&back, 0))),
        ),
        (Role::Balancer, _) => {
            (format!("{}: responses bypass it", bits(sum(&front, 0))), "the same packets".to_owned())
        }
        (Role::Server, _) => (bits(sum(&back, 0)), bits(sum(&back, 1))),
    }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{} packets", format_grouped(count)) }
}
