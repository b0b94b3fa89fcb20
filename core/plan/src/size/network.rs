//! What goes over links: of one request, of one connection, and in and out of each host.

use super::answer::count_text;
use super::tier::hosts_word;
use super::traffic::{FRAME_BYTES, Way};
use super::{Answer, Balancing, Demand, Means, Parcel, Quantity, Role, Tier, Traffic};

/// The numbers, with their formulas.
pub(super) fn answers(traffic: &Traffic, tiers: &[Tier], demand: &Demand, means: &Means) -> Vec<Answer> {
    let mut all = Vec::new();
    let one = |what: &'static str, parcel: Parcel, of: &str| Answer {
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
    for tier in tiers {
        let working = tier.working();
        let (into, out) = formulas(tier.role, means);
        // Connections that are held in silence send nothing.
        if demand.requests.is_zero() && demand.opens.is_zero() {
            continue;
        }
        for (what, packets, way, formula) in
            [("in", "in_packets", tier.ways.into, into), ("out", "out_packets", tier.ways.out, out)]
        {
            all.extend(host(tier.role, (what, packets), way, working, formula));
        }
    }
    all
}

/// Bits and packets of one of `working` hosts.
fn host(
    role: Role,
    (what, packets): (&'static str, &'static str),
    way: Way,
    working: u64,
    formula: &str,
) -> Vec<Answer> {
    let shared = if working > 1 { format!(" ÷ {}", hosts_word(working)) } else { String::new() };
    let bits = Answer {
        role: Some(role),
        what,
        value: Quantity::BitsPerSecond(way.bits().part(working)),
        formula: format!("{formula}{shared}"),
    };
    let packets = Answer {
        role: Some(role),
        what: packets,
        value: Quantity::PerSecond(way.packets.part(working)),
        formula: String::new(),
    };
    vec![bits, packets]
}

/// What is summed, into hosts of a role and out of them.
const fn formulas(role: Role, means: &Means) -> (&'static str, &'static str) {
    match (role, means.balancing) {
        (Role::Load, _) => ("answers × their bytes × 8", "requests × their bytes × 8"),
        (Role::Balancer, Balancing::Proxy) => (
            "(requests from clients + answers from servers) × 8",
            "(answers to clients + requests to servers) × 8",
        ),
        (Role::Balancer, _) => ("requests alone: answers go past it", "the same packets"),
        (Role::Server, _) => ("requests × their bytes × 8", "answers × their bytes × 8"),
    }
}

fn packets(count: u64) -> String {
    if count == 1 { "1 packet".to_owned() } else { format!("{} packets", count_text(count)) }
}
