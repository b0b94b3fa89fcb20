//! Causes that several values show together: what clients saw, and where connections are.

use wavetank_measure::ErrorClass;
use wavetank_units::{phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Role};
use crate::{Blame, Finding, FindingCode, format};

/// Fewer failures are no cause.
const FAILED_MIN: u64 = 10;
/// Connections that a balancer keeps for clients that have left.
const LEFT_MIN: u64 = 10;
/// A server is slower than the others if this many connections wait for it, and this many times as
/// many as for the others.
const WAITING_MIN: u64 = 8;
const WAITING_TIMES: u64 = 4;
/// A host closed the lost connections if it closed or reset this share of them.
const CLOSED_SHARE_MIN: f64 = 0.5;

/// Returns all such causes.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    [left(hosts), slow_server(hosts)].into_iter().flatten().collect()
}

/// Clients gave up, and the balancer keeps working for them: the server is slower than requests
/// come.
fn left(hosts: &Hosts<'_>) -> Option<Cause> {
    let given_up = hosts.failed(ErrorClass::RequestTimeout);
    let kept = |host: &Host<'_>| host.activity().highest("state.close_wait").map_or(0, |(most, _)| most);
    let host = hosts.with_role(Role::Balancer).max_by_key(kept)?;
    let (left, at) = host.activity().highest("state.close_wait")?;
    let server = slowest(hosts)?;
    (given_up >= FAILED_MIN && left >= LEFT_MIN).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::AbandonedRequests,
            blame: server.blame(),
            decisive: false,
            message: sentence!("{} responds more slowly than requests come, and works for clients that have left", server.name()),
            evidence: evidence([
                Some(sentence!("{} requests timed out", format::count(given_up))),
                Some(sentence!("{} connections of {} in CLOSE-WAIT at {} s", format::count(left), host.name(), at.as_secs_f64().round())),
                Some(sentence!("up to {} connections established on {}", format::count(host.stats.peaks().tcp_established), host.name())),
                server.unmoved(),
            ]),
            hint: phrase!("let the balancer end the requests of clients that left (nginx: `proxy_ignore_client_abort off`; HAProxy: \
                   `option abortonclose`), limit how many wait, and give the server more capacity; a longer timeout of \
                   clients does not help"),
        },
        covers: &[FindingCode::SlowServer, FindingCode::PacketLoss],
    })
}

/// The server with most connections.
fn slowest<'a>(hosts: &Hosts<'a>) -> Option<Host<'a>> {
    hosts.with_role(Role::Server).max_by_key(|host| host.stats.peaks().tcp_established)
}

/// A host closed connections that the plan still needed: it has sent resets, or keeps them in
/// TIME-WAIT as the side that closes first.
pub(super) fn closed<'a>(hosts: &Hosts<'a>) -> Option<Cause> {
    let lost = hosts.case.facts.totals.conns.lost;
    let resting = |host: &Host<'_>| host.risen(|sample| sample.tcp_tw);
    // Where both ends are on one host, either may have closed.
    let closed = |host: &Host<'_>| {
        if host.sends() { 0 } else { resting(host).max(host.rise("Tcp.OutRsts")) }
    };
    let has_closed = |(_, most): &(Host<'a>, u64)| *most as f64 >= CLOSED_SHARE_MIN * lost as f64;
    let of = |hosts: &mut dyn Iterator<Item = Host<'a>>| {
        hosts.map(|host| (host, closed(&host))).max_by_key(|(_, most)| *most).filter(has_closed)
    };
    // Clients lose connections to the hosts that they connect to. Behind one that passes on
    // connections, a server may have closed its part first. Others close theirs as they like.
    let passes_on = |host: &Host<'_>| hosts.counts_of(host).any(|count| count.is_tcp);
    let behind = hosts.fronts().any(|host| passes_on(&host)).then(|| of(&mut hosts.with_role(Role::Server)));
    // Hosts of a lab that send load answer the end of a connection with a reset, after which the
    // other side remembers nothing.
    let answered: u64 =
        hosts.with_role(Role::Load).filter(|host| !host.sends()).map(|host| host.rise("Tcp.OutRsts")).sum();
    let only_front = || {
        let mut fronts = hosts.fronts();
        let front = fronts.next().filter(|_| fronts.next().is_none())?;
        Some((front, answered)).filter(has_closed)
    };
    let (host, _) = behind
        .flatten()
        .or_else(|| of(&mut hosts.fronts()))
        .or_else(only_front)
        .or_else(|| of(&mut hosts.under_test()))?;
    let resting = resting(&host);
    (lost >= FAILED_MIN).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: fixes::of(FindingCode::ClosedByHost, hosts, &host),
            code: FindingCode::ClosedByHost,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} closed connections that the plan still needed", host.name()),
            evidence: evidence([
                Some(sentence!("{} lost", format::count(lost))),
                (resting > 0).then(|| {
                    sentence!(
                        "sockets in TIME-WAIT on {} rose by {}: the side that closes first keeps them",
                        host.name(),
                        format::count(resting)
                    )
                }),
                host.moved("Tcp.OutRsts"),
                (resting == 0)
                    .then(|| hosts.with_role(Role::Load).find_map(|load| load.moved("Tcp.OutRsts")))
                    .flatten(),
            ]),
            hint: phrase!("compare its idle timeout with the time that clients are silent, and read its log"),
        },
        covers: &[],
    })
}

/// One server of several is slower than the others.
fn slow_server(hosts: &Hosts<'_>) -> Option<Cause> {
    let waiting = |host: &Host<'_>| {
        let peaks = host.stats.peaks();
        peaks.accept_queue.max(peaks.tcp_established)
    };
    let mut servers: Vec<_> = hosts.with_role(Role::Server).collect();
    servers.sort_by_key(|host| std::cmp::Reverse(waiting(host)));
    let (slow, others) = servers.split_first()?;
    let next = others.iter().map(waiting).max()?;
    (waiting(slow) >= WAITING_MIN.max(WAITING_TIMES * next.max(1))).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: hosts.only_balancer().map(|host| fixes::of(FindingCode::SlowServer, hosts, &host)).unwrap_or_default(),
            code: FindingCode::SlowServer,
            blame: Blame::Target,
            decisive: false,
            message: sentence!("{} is slower than the other servers: requests wait for it", slow.name()),
            evidence: evidence([
                Some(sentence!(
                    "up to {} connections on {}, {} on any other server",
                    format::count(waiting(slow)),
                    slow.name(),
                    format::count(next)
                )),
                Some(sentence!("up to {} in its accept queue", format::count(slow.stats.peaks().accept_queue))),
                slow.unmoved(),
            ]),
            hint: phrase!("compare this server with the others: its version, CPU and neighbours; balance by open connections \
                   (leastconn, least_conn) so that it gets less"),
        },
        covers: &[],
    })
}
