//! Causes that the log of a service names.

use wavetank_measure::{LogEvent, LogFact};

use super::cause::{Cause, Rank, evidence};
use super::fixes;
use super::host::{Host, Hosts, ports_text};
use crate::{Blame, Finding, FindingCode, format};

/// Fewer lines are no cause, unless there are as many failures.
const LINES_MIN: u64 = 5;
/// Statuses with which a balancer reports that it could not pass a request on.
const BALANCER_STATUSES: [u16; 3] = [502, 503, 504];

/// What a rule says of a kind of line.
struct Rule {
    events: &'static [LogEvent],
    code: FindingCode,
    covers: &'static [FindingCode],
    message: fn(&str, &str) -> String,
    hint: &'static str,
    blame: Option<Blame>,
}

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

/// How to mend a balancer that does not wait for responses.
pub(super) const RAISE_TIMEOUT: &str = "set the timeout above the slowest response that is right (HAProxy: `timeout server`; nginx: \
     proxy_read_timeout), or make the server faster";

/// The rules, the most specific first.
const RULES: [Rule; 19] = [
    Rule {
        events: &[LogEvent::NoPorts],
        code: FindingCode::HostNoPorts,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRefused,
            FindingCode::NoLiveUpstreams,
            FindingCode::PortsHalfUsed,
            FindingCode::SlowServer,
        ],
        message: |host, peer| format!("{host} has no local port left for connections to {peer}"),
        hint: "reuse connections to the servers (nginx: `keepalive 64` in the upstream, `proxy_http_version 1.1` and \
               `proxy_set_header Connection \"\"`; HAProxy: `http-reuse safe`), or give it more ports \
               (sysctl -w net.ipv4.ip_local_port_range='1024 65535', and a file in /etc/sysctl.d to keep it after a \
               reboot), more source addresses or more servers",
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoPortsToBind],
        code: FindingCode::BoundBeforeConnect,
        covers: &[
            FindingCode::HostNoPorts,
            FindingCode::UpstreamClosed,
            FindingCode::NoLiveUpstreams,
            FindingCode::PortsHalfUsed,
            FindingCode::SlowServer,
        ],
        message: |host, _| {
            format!("{host} binds a source port before it connects: all its servers share one range of ports")
        },
        hint: "use a version that binds with IP_BIND_ADDRESS_NO_PORT (nginx 1.11.4 or later, Linux 4.2 or later), remove \
               `proxy_bind` or `source` where one address is enough, or give it more source addresses",
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoFiles],
        code: FindingCode::HostNoFiles,
        covers: &[
            FindingCode::AcceptQueueFull,
            FindingCode::UpstreamClosed,
            FindingCode::AbandonedRequests,
            FindingCode::SlowServer,
        ],
        message: |host, _| format!("{host} has reached its limit of open files"),
        hint: "raise LimitNOFILE= in the systemd unit (kept after a reboot) or worker_rlimit_nofile in nginx to at \
               least twice the connections of a worker; a balancer needs two files for each request",
        blame: None,
    },
    Rule {
        events: &[LogEvent::BrokenProxyHeader],
        code: FindingCode::ProxyHeaderMissing,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRefused, FindingCode::NoLiveUpstreams],
        message: |host, _| format!("{host} expects the PROXY protocol, and the balancer does not send it"),
        hint: "send it (HAProxy: `send-proxy-v2` on the server line; nginx: `proxy_protocol on` in a stream), or remove \
               `proxy_protocol` from the server's listen",
        blame: Some(Blame::Balancer),
    },
    Rule {
        events: &[LogEvent::NoWorkerConnections],
        code: FindingCode::WorkerConnections,
        covers: &[FindingCode::AcceptQueueFull, FindingCode::UpstreamClosed, FindingCode::SlowServer],
        message: |host, _| format!("{host} uses all connections that an nginx worker may have"),
        hint: "raise worker_connections to more than twice the clients of a worker, and worker_rlimit_nofile with it",
        blame: None,
    },
    Rule {
        events: &[LogEvent::ServerDown],
        code: FindingCode::HealthFlapping,
        covers: &[
            FindingCode::NoLiveUpstreams,
            FindingCode::BalancerQueue,
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRefused,
            FindingCode::SlowServer,
        ],
        message: |host, peer| format!("{host} took {peer} out of its pool and back again several times"),
        hint: "its checks fail under load although it responds: a longer time for checks (HAProxy: `timeout check`, \
               `inter`), several failures before a server is taken out (`fall 3`), and several successes before it \
               returns (`rise 2`)",
        blame: None,
    },
    Rule {
        events: &[LogEvent::NoLiveUpstreams],
        code: FindingCode::NoLiveUpstreams,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRetried,
            FindingCode::BalancerTimeout,
            FindingCode::UpstreamRefused,
        ],
        message: |host, _| format!("{host} rejected requests because it had taken all its servers out"),
        hint: "a few failures take a server out: raise `max_fails` or set it to 0, shorten `fail_timeout`, and set \
               proxy_read_timeout above the slowest response",
        blame: None,
    },
    Rule {
        events: &[LogEvent::RateLimited],
        code: FindingCode::RateLimited,
        covers: &[FindingCode::BalancerQueue],
        message: |host, _| format!("{host} rejected requests above its limit for each client"),
        hint: "raise `rate` and `burst` of limit_req (or limit_conn), or send the load from more addresses (--source, \
               more load hosts) if real clients have one each",
        blame: None,
    },
    Rule {
        events: &[LogEvent::ConnectionsLimited],
        code: FindingCode::RateLimited,
        covers: &[FindingCode::BalancerQueue],
        message: |host, _| format!("{host} rejected requests above its limit on connections of each client"),
        hint: "raise the number in `limit_conn`, or send the load from more addresses (--source, more load hosts) if \
               real clients have one each",
        blame: None,
    },
    Rule {
        events: &[LogEvent::BodyTooLarge],
        code: FindingCode::BodyTooLarge,
        covers: &[],
        message: |host, _| format!("{host} rejected requests with bodies above its limit"),
        hint: "raise client_max_body_size (1 MB unless it is set) above the largest body that is right",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnresolved],
        code: FindingCode::UpstreamUnresolved,
        covers: &[FindingCode::UpstreamClosed, FindingCode::NoLiveUpstreams],
        message: |host, _| format!("{host} could not resolve the names of its servers"),
        hint: "check the address in `resolver` and that it answers (dig @ADDRESS NAME), or name the servers in an \
               `upstream`, which nginx resolves once at its start",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamTls, LogEvent::UpstreamRefused],
        code: FindingCode::UpstreamTls,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRefused],
        message: |host, peer| format!("{host} could not establish TLS with {peer}"),
        hint: "its log has the reason: trust the authority of the server's certificate (nginx: \
               proxy_ssl_trusted_certificate; HAProxy: `ca-file`), ask for the name in it (proxy_ssl_name; `sni`, \
               `verifyhost`), or speak HTTP to a server without TLS",
        blame: None,
    },
    Rule {
        events: &[LogEvent::ResponseRejected],
        code: FindingCode::ResponseRejected,
        covers: &[FindingCode::UpstreamClosed],
        message: |host, peer| {
            format!(
                "{host} rejected responses of {peer}: their header is not valid, or larger than its buffer"
            )
        },
        hint: "raise the buffer above the largest header (nginx: proxy_buffer_size, and proxy_buffers with it; HAProxy: \
               `tune.bufsize`), or send fewer and shorter cookies; nginx's log says if the header is not valid",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamRefused],
        code: FindingCode::UpstreamRefused,
        covers: &[FindingCode::UpstreamClosed, FindingCode::UpstreamRetried],
        message: |host, peer| format!("{peer} refused connections of {host}: no server listened there"),
        hint: "start the server; let the balancer take it out and ask another (nginx: `max_fails=1` and \
               `proxy_next_upstream error timeout`; HAProxy: `check` and `option redispatch`)",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnreachable],
        code: FindingCode::UpstreamUnreachable,
        covers: &[
            FindingCode::UpstreamClosed,
            FindingCode::UpstreamRetried,
            FindingCode::BalancerTimeout,
            FindingCode::SlowServer,
            FindingCode::PacketLoss,
        ],
        message: |host, peer| format!("{peer} did not answer connections of {host}"),
        hint: "check the server's address, its route back to the balancer, and firewalls between them (ping, ip route get, \
               nc -vz); let the balancer take it out (nginx: `max_fails=1` and a short proxy_connect_timeout; HAProxy: \
               `check`)",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamUnreachable],
        code: FindingCode::BalancerTimeout,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerQueue],
        message: |host, peer| {
            format!("{host} gave up on connecting to {peer}: its timeout is shorter than that takes")
        },
        hint: "look for lost packets and full accept queues of the server, and set the timeout above 3 s, so that a lost \
               packet can be sent again (HAProxy: `timeout connect`; nginx: proxy_connect_timeout)",
        blame: None,
    },
    Rule {
        events: &[LogEvent::QueueTimeout],
        code: FindingCode::BalancerQueue,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerTimeout],
        message: |host, _| format!("requests waited in the queue of {host} until its timeout"),
        hint: "raise `maxconn` of the servers if they can do more, add servers, or raise `timeout queue`",
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamTimeout],
        code: FindingCode::BalancerTimeout,
        covers: &[FindingCode::SlowServer, FindingCode::BalancerQueue],
        message: |host, peer| {
            format!("{host} gave up on responses of {peer}: its timeout is shorter than they take")
        },
        hint: RAISE_TIMEOUT,
        blame: None,
    },
    Rule {
        events: &[LogEvent::UpstreamClosed],
        code: FindingCode::UpstreamClosed,
        covers: &[],
        message: |host, peer| format!("{peer} closed connections under requests of {host}"),
        hint: "let the balancer close idle connections first: its keepalive_timeout (nginx upstream, HAProxy \
               `timeout http-keep-alive` and `http-reuse`) below the server's idle timeout",
        blame: None,
    },
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
                format!(
                    "{} rejected requests because its servers had as many as its `max_conns` allows",
                    fact.host
                )
            } else {
                (rule.message)(&fact.host, peer(hosts, fact))
            },
            evidence: evidence_of(hosts, fact),
            hint: if is_own_limit {
                "raise `max_conns` of the servers, or add servers".to_owned()
            } else {
                rule.hint.to_owned()
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

fn evidence_of(hosts: &Hosts<'_>, fact: &LogFact) -> String {
    let host = hosts.with_name(&fact.host);
    let lines = if fact.first.is_empty() {
        format!("{} lines in the log {} of {}", format::count(fact.lines), fact.log, fact.host)
    } else {
        format!(
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
            message: format!("{} sent requests a second time after its timeout", fact.host),
            evidence: evidence_of(hosts, fact),
            hint: "a server may execute both: do not repeat requests that change something (nginx: remove \
                   `non_idempotent` from proxy_next_upstream; HAProxy: `retry-on` without response-timeout), or set \
                   the timeout above the slowest response"
                .to_owned(),
        },
        covers: &[FindingCode::BalancerTimeout, FindingCode::UpstreamClosed, FindingCode::SlowServer],
    })
}
