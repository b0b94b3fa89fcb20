//! Causes that the counters of a balancer's program show, together with the statuses that clients
//! saw.

use wavetank_measure::{ErrorClass, LogEvent};
use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts};
use crate::{BalancerCounts, Blame, Finding, FindingCode, failures, format};

/// Fewer failures are no cause.
const FAILED_MIN: u64 = 10;
/// Fewer requests wait in the queue of a balancer for a moment.
const QUEUED_MIN: u64 = 8;
/// What a balancer rejected explains the failures if it is this share of them.
const REJECTED_SHARE_MIN: f64 = 0.5;
/// Checks take a server out more often than this if it comes and goes.
const OUTAGES_MAX: u64 = 2;
/// Most servers that are listed with their states.
const SERVERS_MAX: usize = 4;

/// Returns all such causes but [`maxconn`] and [`no_servers`].
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    let found = [slow_clients(hosts), rejected(hosts), session_rate(hosts), queue(hosts), timeout(hosts)];
    found.into_iter().flatten().collect()
}

/// A balancer had as many connections of clients as it may have. It does not accept further ones.
pub(super) fn maxconn(hosts: &Hosts<'_>) -> Option<Cause> {
    let (host, count) = hosts.counts().find(|(_, count)| count.full.is_some())?;
    let (service, limit) = (count.service.as_str(), count.full?);
    let name = host.name();
    let waited = host.stats.peaks().accept_queue;
    Some(Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::BalancerMaxconn, hosts, &host),
            code: FindingCode::BalancerMaxconn,
            blame: host.blame(),
            decisive: false,
            message: sentence!(
                "{name} had as many connections of clients as its `maxconn` allows: others waited"
            ),
            evidence: evidence([
                Some(sentence!("{} connections of {service}, its own limit", format::count(limit))),
                Some(sentence!("up to {} in its accept queue", format::count(waited))),
                hosts.clients(),
                host.unmoved(),
            ]),
            hint: phrase!(
                "raise `maxconn` of global and of the frontend, and the limit of open files to more than twice that"
            ),
        },
        covers: &[
            FindingCode::AcceptQueueFull,
            FindingCode::AcceptQueueNear,
            FindingCode::PacketLoss,
            FindingCode::SlowServer,
            FindingCode::AbandonedRequests,
        ],
    })
}

/// Requests waited in the queue of a balancer, until its timeout (status 503) or for long.
fn queue(hosts: &Hosts<'_>) -> Option<Cause> {
    let rejected = hosts.status(503);
    let (host, counts) = hosts.counts().max_by_key(|(_, count)| count.queue_max)?;
    let has_ended = rejected >= FAILED_MIN && counts.queue_max > 0;
    let name = host.name();
    (has_ended || counts.queue_max >= QUEUED_MIN).then(|| Cause {
        rank: if has_ended { Rank::Counter } else { Rank::Pattern },
        finding: Finding {
            fix: fixes::of(FindingCode::BalancerQueue, hosts, &host),
            code: FindingCode::BalancerQueue,
            blame: Blame::Balancer,
            decisive: false,
            message: if has_ended {
                sentence!("requests waited in the queue of {name} until its timeout")
            } else {
                sentence!("requests waited in the queue of {name} for its servers")
            },
            evidence: evidence([
                Some(sentence!(
                    "up to {} requests in the queue of {}",
                    format::count(counts.queue_max),
                    counts.service
                )),
                has_ended.then(|| sentence!("{} responses 503", format::count(rejected))),
                failures::shared_age(hosts.case)
                    .map(|(age, n)| sentence!("{} of them failed after {age}", format::count(n))),
                host.unmoved(),
            ]),
            hint: phrase!(
                "raise `maxconn` of the servers if they can do more, add servers, or raise `timeout queue`"
            ),
        },
        covers: if has_ended {
            &[FindingCode::SlowServer, FindingCode::BalancerTimeout, FindingCode::UpstreamClosed]
        } else {
            &[FindingCode::SlowServer]
        },
    })
}

/// A balancer gave up on servers: status 504.
fn timeout(hosts: &Hosts<'_>) -> Option<Cause> {
    let given_up = hosts.status(504);
    let most = hosts.counts().max_by_key(|(_, count)| count.response_errors);
    let most = most.filter(|(_, count)| count.response_errors > 0);
    let errors = most.map(|(_, count)| count.response_errors);
    let host = most.map(|(host, _)| host).or_else(|| hosts.only_balancer())?;
    (given_up >= FAILED_MIN).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::BalancerTimeout, hosts, &host),
            code: FindingCode::BalancerTimeout,
            blame: Blame::Balancer,
            decisive: false,
            message: sentence!(
                "{} gave up on responses of its servers: its timeout is shorter than they take",
                host.name()
            ),
            evidence: evidence([
                Some(sentence!("{} responses 504", format::count(given_up))),
                failures::shared_age(hosts.case)
                    .map(|(age, n)| sentence!("{} of them failed after {age}", format::count(n))),
                errors
                    .filter(|errors| *errors > 0)
                    .map(|errors| sentence!("{} response errors of servers", format::count(errors))),
                host.unmoved(),
            ]),
            hint: super::log_rules::RAISE_TIMEOUT,
        },
        covers: &[FindingCode::SlowServer, FindingCode::AcceptQueueFull],
    })
}

/// A host waited for requests of clients, and gave up: status 408.
fn slow_clients(hosts: &Hosts<'_>) -> Option<Cause> {
    let given_up = hosts.status(408);
    let host = hosts.fronts().next().or_else(|| hosts.only_balancer())?;
    (given_up >= FAILED_MIN).then(|| Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix: fixes::of(FindingCode::ClientTimeout, hosts, &host),
            code: FindingCode::ClientTimeout,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} gave up on requests that clients had not sent in full", host.name()),
            evidence: evidence([
                Some(sentence!("{} responses 408", format::count(given_up))),
                failures::shared_age(hosts.case)
                    .map(|(age, n)| sentence!("{} of them failed after {age}", format::count(n))),
                host.unmoved(),
            ]),
            hint: phrase!("set the timeout above the time that the slowest client needs for a whole request (HAProxy: `timeout \
                   http-request`; nginx: client_header_timeout, client_body_timeout)"),
        },
        covers: &[FindingCode::SlowServer, FindingCode::RateLimited],
    })
}

/// Rules of a balancer rejected requests or connections.
fn rejected(hosts: &Hosts<'_>) -> Option<Cause> {
    let (host, counts) = hosts.counts().max_by_key(|(_, count)| count.rejected)?;
    let cut = hosts.failed(ErrorClass::Reset) + hosts.failed(ErrorClass::ClosedEarly);
    let refused = hosts.status(429) + hosts.status(403) + hosts.status(503) + cut;
    let most = counts.rejected;
    let explains = most as f64 >= REJECTED_SHARE_MIN * refused as f64;
    (refused >= FAILED_MIN && most >= FAILED_MIN && explains).then(|| {
        let evidence = evidence([
            Some(sentence!("{} counted {} rejected by its rules", counts.service, format::count(most))),
            hosts.clients(),
            host.unmoved(),
        ]);
        rate_limited(hosts, &host, evidence, &[])
    })
}

/// A balancer accepts no more new sessions a second than its limit.
fn session_rate(hosts: &Hosts<'_>) -> Option<Cause> {
    let (host, counts) = hosts.counts().find(|(_, count)| count.rate_limit.is_some())?;
    let limit = format::count(counts.rate_limit?);
    let evidence = evidence([
        Some(sentence!("{limit} new sessions a second of {}, its own limit", counts.service)),
        Some(sentence!("up to {} in its accept queue", format::count(host.stats.peaks().accept_queue))),
        hosts.clients(),
        host.unmoved(),
    ]);
    let covers = &[
        FindingCode::AbandonedRequests,
        FindingCode::SlowServer,
        FindingCode::AcceptQueueFull,
        FindingCode::AcceptQueueNear,
        FindingCode::PacketLoss,
    ];
    Some(rate_limited(hosts, &host, evidence, covers))
}

fn rate_limited(
    hosts: &Hosts<'_>,
    host: &Host<'_>,
    evidence: Sentence,
    covers: &'static [FindingCode],
) -> Cause {
    let fix = if covers.is_empty() { Vec::new() } else { fixes::session_rate(hosts, host) };
    Cause {
        rank: Rank::Counter,
        finding: Finding {
            fix,
            code: FindingCode::RateLimited,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} rejected requests or connections above a limit of its rules", host.name()),
            evidence,
            hint: phrase!(
                "raise the limit (HAProxy: the rate in `deny` and `reject` rules, `rate-limit sessions`), or send the \
                   load from more addresses (--source, more load hosts) if real clients have one each"
            ),
        },
        covers,
    }
}

/// A balancer has no server that may get requests: status 503.
pub(super) fn no_servers(hosts: &Hosts<'_>) -> Option<Cause> {
    let is_out = |count: &BalancerCounts| {
        !count.servers.is_empty() && count.servers.iter().all(|server| !server.is_up)
    };
    let (host, counts) = hosts.counts().find(|(_, count)| is_out(count))?;
    // Servers that come and go are out for a moment, also at the end.
    let of_host = hosts.logs(LogEvent::ServerDown).into_iter().filter(|fact| fact.host == host.name());
    let outages: u64 = of_host.map(|fact| fact.lines).sum();
    if outages > OUTAGES_MAX * counts.servers.len() as u64 {
        return None;
    }
    let rejected = hosts.status(503);
    let state = |server: &crate::BalancedServer| sentence!("{}: {}", server.name, server.state);
    let states = Sentence::join(counts.servers.iter().take(SERVERS_MAX).map(state), ", ");
    (rejected >= FAILED_MIN).then(|| Cause {
        rank: Rank::Log,
        finding: Finding {
            fix: fixes::of_states(hosts, &host, &states),
            code: FindingCode::NoLiveUpstreams,
            blame: host.blame(),
            decisive: false,
            message: sentence!("{} rejected requests because it had taken all its servers out", host.name()),
            evidence: evidence([
                Some(states),
                Some(sentence!("{} responses 503", format::count(rejected))),
                hosts.clients(),
                host.unmoved(),
            ]),
            hint: phrase!("MAINT: enable the servers, or look at the resolver of their names; DRAIN: give them a weight; L6: look at TLS \
                   with the servers; L7STS: the check asks a path without \
                   a good response (`option httpchk GET /PATH`); L4: nothing listens on the checked port"),
        },
        covers: &[FindingCode::UpstreamRefused, FindingCode::UpstreamClosed, FindingCode::HealthFlapping, FindingCode::BalancerQueue],
    })
}
