//! Causes that several values show together: what clients saw, and where connections are.

use wavetank_measure::ErrorClass;

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, Role};
use crate::{Blame, Finding, failures, format};

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
    let found = [queue(hosts), timeout(hosts), left(hosts), slow_server(hosts)];
    found.into_iter().flatten().collect()
}

/// The only balancer of the lab, which sends statuses of its own.
fn balancer<'a>(hosts: &Hosts<'a>) -> Option<Host<'a>> {
    let mut all = hosts.with_role(Role::Balancer);
    all.next().filter(|_| all.next().is_none())
}

/// A balancer had as many connections of clients as it may have. It does not accept further ones.
pub(super) fn maxconn(hosts: &Hosts<'_>) -> Option<Cause> {
    let mut all = hosts.case.facts.circumstances.balancers.iter();
    let (service, limit) = all.find_map(|count| Some((count.service.as_str(), count.full?)))?;
    let name = service.split('/').next().unwrap_or_default();
    let host = hosts.with_role(Role::Balancer).find(|host| host.name() == name)?;
    let waited = host.stats.peaks().accept_queue;
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of("balancer_maxconn", hosts, &host),
            code: "balancer_maxconn",
            blame: host.blame(),
            decisive: false,
            message: format!("{name} had as many connections of clients as its `maxconn` allows: others waited"),
            evidence: evidence([
                Some(format!("{} connections of {service}, its own limit", format::count(limit))),
                Some(format!("up to {} in its accept queue", format::count(waited))),
                hosts.clients(),
                host.unmoved(),
            ]),
            hint: "raise `maxconn` of global and of the frontend, and the limit of open files to more than twice that"
                .to_owned(),
        },
        covers: &["accept_queue_full", "accept_queue_near", "packet_loss", "slow_server", "abandoned_requests"],
    })
}

/// Requests waited in the queue of a balancer until its timeout: status 503.
fn queue(hosts: &Hosts<'_>) -> Option<Cause> {
    let rejected = hosts.status(503);
    let counts = hosts.case.facts.circumstances.balancers.iter().max_by_key(|count| count.queue_max)?;
    let host = balancer(hosts)?;
    (rejected >= FAILED_MIN && counts.queue_max > 0).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of("balancer_queue", hosts, &host),
            code: "balancer_queue",
            blame: Blame::Balancer,
            decisive: false,
            message: format!("requests waited in the queue of {} until its timeout", host.name()),
            evidence: evidence([
                Some(format!(
                    "up to {} requests in the queue of {}",
                    format::count(counts.queue_max),
                    counts.service
                )),
                Some(format!("{} responses 503", format::count(rejected))),
                failures::shared_age(hosts.case)
                    .map(|(age, n)| format!("{} of them failed after {age}", format::count(n))),
                host.unmoved(),
            ]),
            hint: "raise `maxconn` of the servers if they can do more, add servers, or raise `timeout queue`"
                .to_owned(),
        },
        covers: &["slow_server", "balancer_timeout", "upstream_closed"],
    })
}

/// A balancer gave up on servers: status 504.
fn timeout(hosts: &Hosts<'_>) -> Option<Cause> {
    let given_up = hosts.status(504);
    let host = balancer(hosts)?;
    let errors = hosts.case.facts.circumstances.balancers.iter().map(|count| count.response_errors).max();
    (given_up >= FAILED_MIN).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of("balancer_timeout", hosts, &host),
            code: "balancer_timeout",
            blame: Blame::Balancer,
            decisive: false,
            message: format!(
                "{} gave up on responses of its servers: its timeout is shorter than they take",
                host.name()
            ),
            evidence: evidence([
                Some(format!("{} responses 504", format::count(given_up))),
                failures::shared_age(hosts.case)
                    .map(|(age, n)| format!("{} of them failed after {age}", format::count(n))),
                errors
                    .filter(|errors| *errors > 0)
                    .map(|errors| format!("{} response errors of servers", format::count(errors))),
                host.unmoved(),
            ]),
            hint:
                "set the timeout above the slowest response that is right (HAProxy: `timeout server`; nginx: \
                   proxy_read_timeout), or make the server faster"
                    .to_owned(),
        },
        covers: &["slow_server", "accept_queue_full"],
    })
}

/// Clients gave up, and the balancer keeps working for them: the server is slower than requests
/// come.
fn left(hosts: &Hosts<'_>) -> Option<Cause> {
    let given_up = hosts.failed(ErrorClass::RequestTimeout);
    let host = balancer(hosts)?;
    let (left, at) = host.activity().highest("state.close_wait")?;
    let server = slowest(hosts)?;
    (given_up >= FAILED_MIN && left >= LEFT_MIN).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: "abandoned_requests",
            blame: server.blame(),
            decisive: false,
            message: format!("{} responds more slowly than requests come, and works for clients that have left", server.name()),
            evidence: evidence([
                Some(format!("{} requests timed out", format::count(given_up))),
                Some(format!("{} connections of {} in CLOSE-WAIT at {} s", format::count(left), host.name(), at.as_secs_f64().round())),
                Some(format!("up to {} connections established on {}", format::count(host.stats.peaks().tcp_established), host.name())),
                server.unmoved(),
            ]),
            hint: "let the balancer end the requests of clients that left (nginx: `proxy_ignore_client_abort off`; HAProxy: \
                   `option abortonclose`), limit how many wait, and give the server more capacity; a longer timeout of \
                   clients does not help"
                .to_owned(),
        },
        covers: &["slow_server", "packet_loss"],
    })
}

/// The server with most connections.
fn slowest<'a>(hosts: &Hosts<'a>) -> Option<Host<'a>> {
    hosts.with_role(Role::Server).max_by_key(|host| host.stats.peaks().tcp_established)
}

/// A host closed connections that the plan still needed: it has sent resets, or keeps them in
/// TIME-WAIT as the side that closes first.
pub(super) fn closed(hosts: &Hosts<'_>) -> Option<Cause> {
    let lost = hosts.case.facts.totals.conns.lost;
    let resting = |host: &Host<'_>| host.risen(|sample| sample.tcp_tw);
    // Where both ends are on one host, either may have closed.
    let closed = |host: &Host<'_>| {
        if host.sends() { 0 } else { resting(host).max(host.rise("Tcp.OutRsts")) }
    };
    let (host, most) = hosts.highest(closed)?;
    let resting = resting(&host);
    (lost >= FAILED_MIN && most as f64 >= CLOSED_SHARE_MIN * lost as f64).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: fixes::of("closed_by_host", hosts, &host),
            code: "closed_by_host",
            blame: host.blame(),
            decisive: false,
            message: format!("{} closed connections that the plan still needed", host.name()),
            evidence: evidence([
                Some(format!("{} lost", format::count(lost))),
                (resting > 0).then(|| {
                    format!(
                        "sockets in TIME-WAIT on {} rose by {}: the side that closes first keeps them",
                        host.name(),
                        format::count(resting)
                    )
                }),
                host.moved("Tcp.OutRsts"),
            ]),
            hint: "compare its idle timeout with the time that clients are silent, and read its log"
                .to_owned(),
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
            fix: balancer(hosts).map(|host| fixes::of("slow_server", hosts, &host)).unwrap_or_default(),
            code: "slow_server",
            blame: Blame::Target,
            decisive: false,
            message: format!("{} is slower than the other servers: requests wait for it", slow.name()),
            evidence: evidence([
                Some(format!(
                    "up to {} connections on {}, {} on any other server",
                    format::count(waiting(slow)),
                    slow.name(),
                    format::count(next)
                )),
                Some(format!("up to {} in its accept queue", format::count(slow.stats.peaks().accept_queue))),
                slow.unmoved(),
            ]),
            hint: "compare this server with the others: its version, CPU and neighbours; balance by open connections \
                   (leastconn, least_conn) so that it gets less"
                .to_owned(),
        },
        covers: &[],
    })
}
