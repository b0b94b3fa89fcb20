//! Causes that the log of a service names.

use wavetank_measure::{LogEvent, LogFact};
use wavetank_units::{Sentence, phrase, sentence};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, ports_text};
use super::log_rules::{RULES, Rule};
use crate::{Blame, Finding, FindingCode, format};

/// Fewer lines are no cause, unless there are as many failures.
const LINES_MIN: u64 = 5;
/// Statuses with which a balancer reports that it could not pass a request on.
const BALANCER_STATUSES: [u16; 3] = [502, 503, 504];

/// A host that is stopped in at least this share of its quota's periods has too little CPU for all
/// that it does.
const ALWAYS_THROTTLED: f64 = 0.75;
/// What a balancer logs about its servers if it is late itself.
const LATE_EVENTS: [LogEvent; 5] = [
    LogEvent::NoLiveUpstreams,
    LogEvent::ServerDown,
    LogEvent::UpstreamTimeout,
    LogEvent::UpstreamUnreachable,
    LogEvent::QueueTimeout,
];

/// Returns the causes that logs name.
pub(super) fn causes(hosts: &Hosts<'_>) -> Vec<Cause> {
    RULES.iter().filter_map(|rule| cause(hosts, rule)).chain(retried(hosts)).collect()
}

fn cause(hosts: &Hosts<'_>, rule: &Rule) -> Option<Cause> {
    let facts = rule.events.iter().filter_map(|event| hosts.logs(*event).first().copied());
    let fact = facts.into_iter().find(|fact| matters(hosts, rule.code, fact))?;
    let host = hosts.with_name(&fact.host);
    let blame = rule.blame.unwrap_or_else(|| hosts.blame(&fact.host));
    let is_own_limit = fact.event == LogEvent::NoLiveUpstreams && hosts.has_no_failure(fact);
    // Those of the load's own hosts are the generator's, which has its own rules.
    (blame != Blame::Generator && blame != Blame::Unknown).then(|| Cause {
        rank: Rank::Log,
        finding: Finding {
            fix: host.map(|host| fixes::of_log(rule.code, hosts, host, fact)).unwrap_or_default(),
            code: rule.code,
            blame,
            decisive: false,
            message: if is_own_limit {
                sentence!(
                    "{} rejected requests because its servers had as many as its `max_conns` allows",
                    fact.host
                )
            } else {
                (rule.message)(&fact.host, peer(hosts, fact))
            },
            evidence: evidence_of(hosts, fact),
            hint: if is_own_limit {
                phrase!("raise `max_conns` of the servers, or add servers")
            } else {
                rule.hint.clone()
            },
        },
        covers: rule.covers,
    })
}

/// Whether the lines show what the rule says.
fn matters(hosts: &Hosts<'_>, code: FindingCode, fact: &LogFact) -> bool {
    let rise = |name: &str, counter| hosts.with_name(name).map_or(0, |host| host.rise(counter));
    let enough = fact.lines >= LINES_MIN;
    // A balancer that gets no CPU is late itself, and blames its servers for that.
    let throttled = hosts.with_name(&fact.host).map_or(0.0, Host::throttled_share);
    if LATE_EVENTS.contains(&fact.event) && throttled >= ALWAYS_THROTTLED {
        return false;
    }
    match fact.event {
        // If clients saw fewer failures, the balancer asked again.
        LogEvent::UpstreamTimeout | LogEvent::UpstreamClosed => {
            let seen: u64 = BALANCER_STATUSES.iter().map(|status| hosts.status(*status)).sum();
            seen > 0 && fact.lines.saturating_mul(2) >= seen
        }
        // A server that accepts some connections can be reached.
        LogEvent::UpstreamUnreachable => {
            let reachable = rise(peer(hosts, fact), "Tcp.PassiveOpens") > 0;
            enough && reachable == (code != FindingCode::UpstreamUnreachable)
        }
        // If all connections of the balancer were established, none was refused: TLS failed.
        LogEvent::UpstreamRefused => {
            let accepts = rise(peer(hosts, fact), "Tcp.PassiveOpens") * 2 >= fact.lines
                && rise(&fact.host, "Tcp.AttemptFails") == 0;
            enough && accepts == (code == FindingCode::UpstreamTls)
        }
        _ => enough,
    }
}

/// The server that the lines name.
fn peer<'f>(hosts: &Hosts<'f>, fact: &'f LogFact) -> &'f str {
    if fact.peer.is_empty() { "its servers" } else { hosts.name_of(&fact.peer) }
}

fn evidence_of(hosts: &Hosts<'_>, fact: &LogFact) -> Sentence {
    let host = hosts.with_name(&fact.host);
    let lines = if fact.first.is_empty() {
        sentence!("{} lines in the log {} of {}", format::count(fact.lines), fact.log, fact.host)
    } else {
        sentence!(
            "{} lines in the log {} of {} from {} to {}",
            format::count(fact.lines),
            fact.log,
            fact.host,
            fact.first,
            fact.last
        )
    };
    let ports = host.filter(|_| matches!(fact.event, LogEvent::NoPorts | LogEvent::NoPortsToBind));
    let ports = ports.and_then(|host| hosts.destination(host, false)).map(ports_text);
    evidence([Some(lines), ports, hosts.clients(), host.and_then(Host::unmoved)])
}

/// Returns the cause for requests that a balancer sent to a second server because the first did not
/// respond in time. Clients saw no failure of it.
fn retried(hosts: &Hosts<'_>) -> Option<Cause> {
    let fact = *hosts.logs(LogEvent::UpstreamTimeout).first()?;
    let failed = hosts.status(504);
    let host = hosts.with_name(&fact.host);
    (fact.lines >= LINES_MIN && failed * 2 < fact.lines).then(|| Cause {
        rank: Rank::Log,
        finding: Finding {
            fix: host.map(|host| fixes::of(FindingCode::UpstreamRetried, hosts, host)).unwrap_or_default(),
            code: FindingCode::UpstreamRetried,
            blame: hosts.blame(&fact.host),
            decisive: false,
            message: sentence!("{} sent requests a second time after its timeout", fact.host),
            evidence: evidence_of(hosts, fact),
            hint: phrase!("a server may execute both: do not repeat requests that change something (nginx: remove \
                   `non_idempotent` from proxy_next_upstream; HAProxy: `retry-on` without response-timeout), or set \
                   the timeout above the slowest response"),
        },
        covers: &[FindingCode::BalancerTimeout, FindingCode::UpstreamClosed, FindingCode::SlowServer],
    })
}
