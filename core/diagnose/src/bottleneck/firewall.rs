//! Packets that a host received and its firewall dropped.

use wavetank_units::{phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, seconds};
use crate::{Finding, FindingCode, format};

/// Fewer packets, and a smaller share of those received, are no cause.
const DROPPED_MIN: u64 = 20;
const DROPPED_SHARE_MIN: f64 = 0.01;
/// What the kernel of a sender counts if nothing answers its packets.
const MISSED: [&str; 3] = ["TcpExt.TCPTimeouts", "TcpExt.TCPSynRetrans", "Tcp.AttemptFails"];
/// What the kernel counts of received packets that it did not deliver to a protocol.
const ACCOUNTED: [&str; 8] = [
    "Ip.InDelivers",
    "Ip.ForwDatagrams",
    "Ip.InHdrErrors",
    "Ip.InAddrErrors",
    "Ip.InUnknownProtos",
    "Ip.InDiscards",
    "Ip.ReasmReqds",
    "TcpExt.IPReversePathFilter",
];

/// Adds such drops to the causes that logs name. They explain why a server does not answer.
pub(super) fn add_drops(hosts: &Hosts<'_>, causes: &mut Vec<Cause>) {
    let Some(mut found) = drops(hosts) else { return };
    if causes.is_empty() || causes.iter().any(|cause| found.covers.contains(&cause.finding.code)) {
        found.rank = Rank::Log;
    }
    causes.insert(0, found);
}

/// A host received packets that no counter of the kernel accounts for: only a firewall takes them.
fn drops(hosts: &Hosts<'_>) -> Option<Cause> {
    let dropped = |host: &Host<'_>| {
        let received = host.rise("Ip.InReceives");
        let accounted: u64 = ACCOUNTED.iter().map(|name| host.rise(name)).sum();
        let dropped = received.saturating_sub(accounted);
        let matters = dropped >= DROPPED_MIN && dropped as f64 >= DROPPED_SHARE_MIN * received as f64;
        // Of hosts that forward packets, the kernel's balancer takes some. On a host that sends the
        // load, other programs receive packets, too.
        let forwards = host.rise("Ip.ForwDatagrams") > 0 || host.sends();
        if matters && !forwards { dropped } else { 0 }
    };
    let (host, most) = hosts.highest(dropped)?;
    // Packets to other groups of a network are dropped, too, and no sender misses them.
    let missed = |host: &Host<'_>| MISSED.iter().map(|name| host.rise(name)).sum::<u64>();
    let missed: u64 = hosts.all.iter().map(missed).sum();
    if missed + hosts.case.judged.counters.failed() < DROPPED_MIN / 2 {
        return None;
    }
    let received = host.activity().counter("Ip.InReceives");
    let (from, to) = seconds(&received);
    let accepts = host.rise("Tcp.PassiveOpens") > 0;
    let text = sentence!(
        "{} of {} packets that {} received did not reach a protocol (Ip.InReceives, Ip.InDelivers), from {from} s to {to} s",
        format::count(most),
        format::count(received.total),
        host.name()
    );
    let repeated = hosts.all.iter().find_map(|host| host.moved("TcpExt.TCPSynRetrans"));
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: if accepts { Vec::new() } else { fixes::take_out(hosts) },
            code: FindingCode::FirewallDrops,
            blame: host.blame(),
            decisive: false,
            message: sentence!("the firewall of {} dropped packets", host.name()),
            evidence: evidence([Some(text), repeated, hosts.clients()]),
            hint: phrase!(
                "list its rules with their counters (nft list ruleset; iptables -nvL), and accept the port from the load \
                   and the balancers; rules with `limit`, `hashlimit` or `connlimit` need a higher limit"
            ),
        },
        covers: &[
            FindingCode::UpstreamUnreachable,
            FindingCode::UpstreamRefused,
            FindingCode::PacketLoss,
            FindingCode::BalancerTimeout,
            FindingCode::AbandonedRequests,
            FindingCode::SlowServer,
        ],
    })
}
