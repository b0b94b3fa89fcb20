//! Findings about a load that is uneven, and about a limit that is near.

use wavetank_units::{phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Role, fill, ports_text};
use super::listeners::nearly_full;
use crate::{Finding, FindingCode, format};

/// A server has everything if it received this share of what all servers did.
const ALL_SHARE: f64 = 0.9;
/// Less than this share of it is nothing: address resolution and checks.
const NOTHING_SHARE: f64 = 0.05;
/// A balancer that received less than this share of its server's bytes did not pass the load on.
const BYPASSED_SHARE: f64 = 0.5;
/// Fewer requests say nothing about their distribution.
const REQUESTS_MIN: u64 = 100;
/// Fewer connections to a destination are not searched for long.
const PORTS_MIN: u64 = 1_000;
/// From this share on the kernel searches for a free port.
const PORTS_SHARE: f64 = 0.5;

/// Returns what is uneven or near its limit.
pub(super) fn causes(hosts: &Hosts<'_>, failed: bool) -> Vec<Cause> {
    uneven(hosts, failed).into_iter().chain(ports(hosts)).chain(nearly_full(hosts)).collect()
}

/// One server of several has all the load.
fn uneven(hosts: &Hosts<'_>, failed: bool) -> Option<Cause> {
    // Events change servers and pools on purpose, and failures have causes of their own.
    if failed || !hosts.case.facts.plan.events.is_empty() || hosts.case.judged.counters.done < REQUESTS_MIN {
        return None;
    }
    let mut servers: Vec<_> = hosts.with_role(Role::Server).collect();
    servers.sort_by_key(|host| std::cmp::Reverse(host.received_bytes()));
    let (busy, idle) = servers.split_first().filter(|(_, idle)| !idle.is_empty())?;
    let mut balancers = hosts.with_role(Role::Balancer);
    let (balancer, None) = (balancers.next()?, balancers.next()) else { return None };
    let all: u64 = servers.iter().map(Host::received_bytes).sum();
    let share = |host: &Host<'_>| host.received_bytes() as f64 / all.max(1) as f64;
    if share(busy) < ALL_SHARE || idle.iter().any(|host| share(host) > NOTHING_SHARE) {
        return None;
    }
    if are_meant_to_be_idle(hosts, idle) {
        return None;
    }
    let names = idle.iter().map(Host::name).collect::<Vec<_>>().join(", ");
    let received = sentence!(
        "{} of the bytes that servers received · {} connections accepted by {}, {} by the others",
        format::percent(share(busy)),
        format::count(busy.rise("Tcp.PassiveOpens")),
        busy.name(),
        format::count(idle.iter().map(|host| host.rise("Tcp.PassiveOpens")).sum())
    );
    let bypassed = (balancer.received_bytes() as f64) < BYPASSED_SHARE * busy.received_bytes() as f64;
    let evidence = evidence([Some(received), Some(sentence!("idle: {names}"))]);
    let decisive = false;
    let finding = if bypassed {
        Finding {
            fix: fixes::of(FindingCode::BalancerBypassed, hosts, busy),
            code: FindingCode::BalancerBypassed,
            blame: busy.blame(),
            decisive,
            message: sentence!(
                "{} gets the load past {}: clients reach it directly",
                busy.name(),
                balancer.name()
            ),
            evidence,
            hint: phrase!(
                "a server behind direct routing must not answer ARP for the balancer's address: set \
                   net.ipv4.conf.all.arp_ignore=1 and arp_announce=2 before adding it (a file in /etc/sysctl.d keeps \
                   them after a reboot)"
            ),
        }
    } else {
        Finding {
            fix: fixes::of(FindingCode::OneServerOnly, hosts, &balancer),
            code: FindingCode::OneServerOnly,
            blame: balancer.blame(),
            decisive,
            message: sentence!("{} sends all of the load to {}", balancer.name(), busy.name()),
            evidence,
            hint: phrase!(
                "balance by something that differs between clients: ip_hash and `balance source` see one client where \
                   all addresses share a network or a proxy; use least_conn, round robin or a hash of a cookie"
            ),
        }
    };
    Some(Cause { rank: Rank::Hint, finding, covers: &[] })
}

/// Whether the idle servers are those that a balancer has for the failure of others, or that were
/// taken out on purpose.
fn are_meant_to_be_idle(hosts: &Hosts<'_>, idle: &[Host<'_>]) -> bool {
    let servers = hosts.counts().flat_map(|(_, count)| &count.servers);
    servers.filter(|server| server.is_backup || server.state.starts_with("MAINT")).count() >= idle.len()
}

/// More than half of the ports to a destination are in use. Those of a host that sends the load are
/// the load's, or of other programs.
fn ports<'a>(hosts: &Hosts<'a>) -> Option<Cause> {
    let near = |host: Host<'a>| {
        let most = hosts.destination(&host, false)?;
        let is_near = most.0.ports >= PORTS_MIN && fill(&most.0) >= PORTS_SHARE;
        is_near.then(|| ports_text(most))
    };
    let mut all = hosts.under_test().filter(|host| !host.sends());
    let (host, used) = all.find_map(|host| Some((host, near(host)?)))?;
    Some(Cause {
        rank: Rank::Hint,
        finding: Finding {
            fix: fixes::of(FindingCode::PortsHalfUsed, hosts, &host),
            code: FindingCode::PortsHalfUsed,
            blame: host.blame(),
            decisive: false,
            message: sentence!(
                "{} uses more than half of its ports to a server: each connect takes longer",
                host.name()
            ),
            evidence: evidence([
                Some(used),
                host.moved("Tcp.ActiveOpens"),
                Some(phrase!("the kernel searches for a free port, and no counter shows that")),
            ]),
            hint: phrase!(
                "more servers, source addresses or ports (net.ipv4.ip_local_port_range='1024 65535'), or HAProxy \
                   `source ADDRESS:1024-65535`, which chooses ports itself"
            ),
        },
        covers: &[],
    })
}
