//! Causes inside a server, which nothing outside of it shows: its own errors, and what its requests
//! wait for. They are found only where nothing else is.

use wavetank_measure::LogEvent;
use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::host::{Host, Hosts, Role};
use crate::{Blame, Finding, FindingCode, format};

/// Fewer failures are no cause.
const FAILED_MIN: u64 = 10;
/// Servers that sent fewer segments than this share of the requests did not answer them.
const ANSWERED_SHARE_MIN: f64 = 0.9;
/// A server does not respond slowly because of its CPUs if it used less than this share of them.
const CPU_SHARE_MAX: f64 = 0.4;
/// Requests that are in a server at a time, and the share of its connections that they are.
const WAITING_MIN: f64 = 8.0;
const WAITING_SHARE_MIN: f64 = 0.25;

/// Returns the first that matches.
pub(super) fn causes(hosts: &Hosts<'_>) -> Option<Cause> {
    errors(hosts).or_else(|| rejections(hosts)).or_else(|| slow_responses(hosts))
}

/// The only server under test.
fn only_server<'a>(hosts: &Hosts<'a>) -> Option<Host<'a>> {
    let mut servers = hosts.with_role(Role::Server);
    servers.next().filter(|_| servers.next().is_none())
}

/// Whether the servers sent as many responses as there were requests. A balancer that responds
/// itself does not ask them.
fn have_answered(hosts: &Hosts<'_>) -> bool {
    let sent: u64 = hosts.with_role(Role::Server).map(|host| host.rise("Tcp.OutSegs")).sum();
    sent as f64 >= ANSWERED_SHARE_MIN * hosts.case.judged.counters.sent as f64
}

/// Servers responded with errors, and their balancer passed them on.
fn errors(hosts: &Hosts<'_>) -> Option<Cause> {
    let statuses = hosts.case.judged.status.0.iter().map(|(status, _)| *status).filter(|one| *one >= 500);
    let counted: Vec<(u16, u64)> =
        statuses.map(|status| (status, hosts.status(status))).filter(|(_, n)| *n > 0).collect();
    // Of servers that do not respond, a balancer makes these itself.
    let own = counted.iter().filter(|(status, _)| ![502, 504].contains(status));
    let own: u64 = own.map(|(_, n)| n).sum();
    let all: u64 = counted.iter().map(|(_, n)| n).sum();
    let fact = hosts.logs(LogEvent::ServerError).first().copied();
    let logged = fact.filter(|fact| fact.lines >= FAILED_MIN && fact.lines * 2 >= all);
    let lines = logged.map(|fact| {
        sentence!("{} lines in the log {} of {}", format::count(fact.lines), fact.log, fact.host)
    });
    let named = match logged {
        Some(fact) => Some(fact.peer.as_str()),
        None => only_server(hosts).map(|host| host.name()),
    };
    let peer = hosts.all.iter().find(|host| Some(host.name()) == named);
    let matters = logged.is_some() || own >= FAILED_MIN && have_answered(hosts);
    let list = |(status, n): &(u16, u64)| sentence!("{status}: {}", format::count(*n));
    matters.then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::ServerErrors,
            blame: Blame::Target,
            decisive: false,
            message: match named {
                Some(name) => sentence!("{name} responded with errors of its own"),
                None => phrase!("servers responded with errors of their own"),
            },
            evidence: evidence([
                Some(sentence!("responses {}", Sentence::join(counted.iter().map(list), ", "))),
                lines,
                peer.and_then(Host::unmoved),
            ]),
            hint: phrase!("read the log of the server: an exception, a full pool of connections to a database, or a limit that it \
                   sets itself; the balancer only passes these responses on"),
        },
        covers: &[],
    })
}

/// A server rejected requests above its own limit: status 429.
fn rejections(hosts: &Hosts<'_>) -> Option<Cause> {
    let rejected = hosts.status(429);
    let server = only_server(hosts)?;
    (rejected >= FAILED_MIN && have_answered(hosts)).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::RateLimited,
            blame: server.blame(),
            decisive: false,
            message: sentence!("{} rejected requests above a limit of its own", server.name()),
            evidence: evidence([
                Some(sentence!("{} responses 429", format::count(rejected))),
                hosts.clients(),
                server.unmoved(),
            ]),
            hint: phrase!("raise the limit of the application, or send the load as more clients (addresses, users, keys), if it \
                   counts those"),
        },
        covers: &[],
    })
}

/// Requests wait in a server that does not use its CPUs: for a lock, a pool, or another service.
fn slow_responses(hosts: &Hosts<'_>) -> Option<Cause> {
    let judged = &hosts.case.judged;
    let connections = |host: &Host<'_>| host.stats.peaks().tcp_established;
    let server = hosts.with_role(Role::Server).max_by_key(connections)?;
    let cpu = server.stats.peaks().cpu?;
    // By Little's law: requests a second, times the seconds that each of them takes.
    let seconds = judged.duration.as_secs_f64().max(1.0);
    let mean = judged.service.mean() / 1e9;
    let waiting = judged.service.count() as f64 / seconds * mean;
    let most = connections(&server) as f64;
    let is_there = most >= WAITING_MIN && waiting >= WAITING_MIN && waiting >= WAITING_SHARE_MIN * most;
    (is_there && cpu < CPU_SHARE_MAX).then(|| Cause {
        rank: Rank::Pattern,
        finding: Finding {
            fix: Vec::new(),
            code: FindingCode::SlowResponses,
            blame: server.blame(),
            decisive: false,
            message: sentence!(
                "{} responds slowly without using its CPUs: requests wait inside of it",
                server.name()
            ),
            evidence: evidence([
                Some(sentence!("{} requests at a time, each for {:.2} s", format::count(waiting.round() as u64), mean)),
                Some(sentence!("up to {} connections established on {}", format::count(most as u64), server.name())),
                Some(sentence!("up to {} of the CPU time of {}", format::percent(cpu), server.name())),
                server.unmoved(),
            ]),
            hint: phrase!("look at what its threads wait for (a profile of blocked time, a dump of stacks): a lock, a pool of \
                   connections or threads, a disk, or another service that is slow"),
        },
        covers: &[],
    })
}
