//! The changes of settings that remove a cause.

use FixAction::{Parameter, Remove, RemoveParameter, Set};
use wavetank_measure::{LogEvent, LogFact};

use super::host::{Host, Hosts, Role};
use super::listeners::QueueLimit;
use crate::{Configured, FindingCode, Fix, FixAction};

/// Limits are raised to this many times what was used.
const ROOM: u64 = 4;
/// Limits on connections are raised to at least this.
const CONNECTIONS_MIN: u64 = 4_096;
/// A balancer waits this long for responses and for clients afterwards.
const TIMEOUT: &str = "60s";

/// A change of a program's configuration: section, action, directive, value.
type Change<'c> = (&'c str, FixAction, &'c str, &'c str);

/// Returns the changes on `host` that remove the cause `code`; none if no setting does.
pub(super) fn of(code: FindingCode, hosts: &Hosts<'_>, host: &Host<'_>) -> Vec<Fix> {
    let name = host.name();
    let program = |nginx: &[Change<'_>], haproxy: &[Change<'_>]| programs(hosts, name, nginx, haproxy);
    let (most, files) = (connections(host).to_string(), files(host).to_string());
    match code {
        FindingCode::HostNoPorts | FindingCode::PortsHalfUsed => ports(hosts, name),
        FindingCode::HostNoFiles => std::iter::once(unit(hosts, name, "LimitNOFILE", &files))
            .chain(program(&[("", Set, "worker_rlimit_nofile", &files)], &[]))
            .collect(),
        FindingCode::WorkerConnections => program(
            &[("events", Set, "worker_connections", &most), ("", Set, "worker_rlimit_nofile", &files)],
            &[],
        ),
        FindingCode::BalancerMaxconn => {
            program(&[], &[("global", Set, "maxconn", &most), ("frontend", Set, "maxconn", &most)])
        }
        FindingCode::BalancerQueue => {
            program(&[], &[("backend", Parameter, "server", &format!("maxconn {most}"))])
        }
        FindingCode::BalancerTimeout => {
            program(&[SLOW_RESPONSES], &[("defaults", Set, "timeout server", TIMEOUT)])
        }
        FindingCode::UpstreamRetried => program(
            &[SLOW_RESPONSES, ("location", RemoveParameter, "proxy_next_upstream", "non_idempotent")],
            &[("defaults", Set, "timeout server", TIMEOUT), ("backend", Remove, "retry-on", "")],
        ),
        FindingCode::NoLiveUpstreams => {
            program(&[("upstream", Parameter, "server", "max_fails=0"), SLOW_RESPONSES], &[])
        }
        FindingCode::BodyTooLarge => program(&[("http", Set, "client_max_body_size", "64m")], &[]),
        FindingCode::DelayedAcks => {
            program(&[("http", Set, "tcp_nodelay", "on")], &[("defaults", Set, "option http-no-delay", "")])
        }
        FindingCode::SynQueueFull => half_open(hosts, host),
        FindingCode::PacketLoss => lossless(hosts, name),
        FindingCode::UpstreamRefused | FindingCode::UpstreamUnreachable => {
            program(&TAKE_OUT_NGINX, &TAKE_OUT_HAPROXY)
        }
        FindingCode::ClosedByHost => idle_times(hosts, name),
        FindingCode::ClientTimeout => program(
            &[("http", Set, "client_header_timeout", TIMEOUT), ("http", Set, "client_body_timeout", TIMEOUT)],
            &[("defaults", Set, "timeout http-request", TIMEOUT)],
        ),
        FindingCode::CutByReload => program(
            &[("", Set, "worker_shutdown_timeout", TIMEOUT)],
            &[("global", Set, "hard-stop-after", TIMEOUT)],
        ),
        FindingCode::TlsHandshakes => program(
            &[
                ("http", Set, "ssl_session_cache", "shared:tls:10m"),
                ("http", Set, "ssl_session_timeout", "1h"),
                ("http", Set, "ssl_session_tickets", "on"),
            ],
            &[("global", Set, "tune.ssl.cachesize", "20000"), ("global", Remove, "no-tls-tickets", "")],
        ),
        FindingCode::RateLimited => rate_limit(hosts, name),
        FindingCode::CpuQuota => {
            let percent = (host.stats.cpus() * 100.0).ceil() as u64 * ROOM;
            vec![unit(hosts, name, "CPUQuota", &format!("{percent}%"))]
        }
        FindingCode::BalancerBypassed => vec![
            sysctl(name, "net.ipv4.conf.all.arp_ignore", "1"),
            sysctl(name, "net.ipv4.conf.all.arp_announce", "2"),
        ],
        FindingCode::ReversePathFilter => vec![sysctl(name, "net.ipv4.conf.all.rp_filter", "2")],
        FindingCode::ProxyHeaderMissing => proxy_header(hosts, name),
        _ => balancing(code, program),
    }
}

/// The changes of how a balancer chooses servers and reads their responses, or how its workers
/// share connections.
fn balancing(code: FindingCode, program: impl Fn(&[Change<'_>], &[Change<'_>]) -> Vec<Fix>) -> Vec<Fix> {
    match code {
        FindingCode::OneServerOnly => program(
            &[
                ("upstream", Remove, "ip_hash", ""),
                ("upstream", Remove, "hash", ""),
                ("upstream", RemoveParameter, "server", "weight"),
            ],
            &[("backend", Set, "balance", "roundrobin"), ("backend", Parameter, "server", "weight 1")],
        ),
        FindingCode::SlowServer => {
            program(&[("upstream", Set, "least_conn", "")], &[("backend", Set, "balance", "leastconn")])
        }
        FindingCode::HealthFlapping => program(
            &[],
            &[
                ("backend", Parameter, "server", "inter 2s"),
                ("backend", Parameter, "server", "fall 3"),
                ("backend", Parameter, "server", "rise 2"),
                ("defaults", Set, "timeout check", "2s"),
            ],
        ),
        FindingCode::ResponseRejected => program(
            &[("http", Set, "proxy_buffer_size", "32k"), ("http", Set, "proxy_buffers", "8 32k")],
            &[("global", Set, "tune.bufsize", "65536")],
        ),
        FindingCode::StuckWorker => program(&[("server", RemoveParameter, "listen", "reuseport")], &[]),
        _ => Vec::new(),
    }
}

/// A longer wait of nginx for a response.
const SLOW_RESPONSES: Change<'static> = ("location", Set, "proxy_read_timeout", TIMEOUT);

/// A wait for connections that is longer than the repetition of two lost packets takes.
const CONNECT_NGINX: Change<'static> = ("location", Set, "proxy_connect_timeout", "5s");
const CONNECT_HAPROXY: Change<'static> = ("defaults", Set, "timeout connect", "5s");

/// A balancer that asks another server, and takes out one that does not answer.
const TAKE_OUT_NGINX: [Change<'static>; 3] = [
    ("location", Set, "proxy_next_upstream", "error timeout"),
    ("location", Set, "proxy_connect_timeout", "1s"),
    ("upstream", Parameter, "server", "max_fails=1"),
];
const TAKE_OUT_HAPROXY: [Change<'static>; 4] = [
    ("backend", Parameter, "server", "check"),
    ("defaults", Set, "option redispatch", "1"),
    ("defaults", Set, "retries", "3"),
    ("defaults", Set, "timeout connect", "1s"),
];

/// Balancers that take a server out which does not answer, if there are others.
pub(super) fn take_out(hosts: &Hosts<'_>) -> Vec<Fix> {
    let has_others = hosts.with_role(Role::Server).nth(1).is_some();
    let balancers = hosts.with_role(Role::Balancer).filter(|_| has_others);
    balancers.flat_map(|host| programs(hosts, host.name(), &TAKE_OUT_NGINX, &TAKE_OUT_HAPROXY)).collect()
}

/// The changes on `host` for what its log reports as `fact`.
pub(super) fn of_log(code: FindingCode, hosts: &Hosts<'_>, host: &Host<'_>, fact: &LogFact) -> Vec<Fix> {
    let nginx = |changes: &[Change<'_>]| programs(hosts, host.name(), changes, &[]);
    match fact.event {
        LogEvent::ConnectionsLimited => {
            let value = format!("{} {}", fact.peer, connections(host));
            nginx(&[("location", Set, "limit_conn", &value)])
        }
        LogEvent::NoLiveUpstreams if hosts.has_no_failure(fact) => {
            nginx(&[("upstream", RemoveParameter, "server", "max_conns")])
        }
        LogEvent::UpstreamUnreachable if code == FindingCode::BalancerTimeout => {
            programs(hosts, host.name(), &[CONNECT_NGINX], &[CONNECT_HAPROXY])
        }
        LogEvent::UpstreamClosed => closed_by_server(hosts, host.name(), hosts.name_of(&fact.peer)),
        _ => of(code, hosts, host),
    }
}

/// The changes for servers that `host` has taken out, by their states.
pub(super) fn of_states(hosts: &Hosts<'_>, host: &Host<'_>, states: &str) -> Vec<Fix> {
    let changes: &[Change<'_>] = if states.contains("DRAIN") {
        &[("backend", Parameter, "server", "weight 1")]
    } else if states.contains("MAINT") && !states.contains("DOWN") {
        &[("backend", RemoveParameter, "server", "disabled")]
    } else if states.contains("L7") {
        // A check that asks for no path needs an accepted connection only.
        &[("defaults", Remove, "option httpchk", ""), ("backend", Remove, "option httpchk", "")]
    } else {
        &[]
    };
    programs(hosts, host.name(), &[], changes)
}

/// A limit on new sessions that four times the load does not reach.
pub(super) fn session_rate(hosts: &Hosts<'_>, host: &Host<'_>) -> Vec<Fix> {
    let rate = (ROOM as f64 * offered_per_s(hosts)).ceil().to_string();
    let changes = [
        ("frontend", Set, "rate-limit sessions", rate.as_str()),
        ("global", Set, "maxconnrate", rate.as_str()),
        ("global", Set, "maxsessrate", rate.as_str()),
    ];
    programs(hosts, host.name(), &[], &changes)
}

/// Idle times above those of clients. `host` is a balancer, or a server of the load.
fn idle_times(hosts: &Hosts<'_>, host: &str) -> Vec<Fix> {
    let nginx = [
        ("http", Set, "keepalive_timeout", TIMEOUT),
        ("http", Set, "keepalive_requests", "10000"),
        // That of a WebSocket, in both directions.
        ("location", Set, "proxy_read_timeout", TIMEOUT),
        ("location", Set, "proxy_send_timeout", TIMEOUT),
    ];
    let haproxy = [
        ("defaults", Set, "timeout client", TIMEOUT),
        ("defaults", Set, "timeout http-keep-alive", TIMEOUT),
        ("defaults", Set, "timeout server", TIMEOUT),
        ("defaults", Set, "timeout tunnel", TIMEOUT),
    ];
    // Sockets and raw connections have times of their own.
    let is_http = hosts.is_plain_http();
    let (nginx, haproxy) = if is_http { (&nginx[..2], &haproxy[..2]) } else { (&nginx[..], &haproxy[..]) };
    programs(hosts, host, nginx, haproxy)
}

/// A limit on connections with room for what `host` had: a power of two.
fn connections(host: &Host<'_>) -> u64 {
    let most = host.stats.peaks().tcp_established.saturating_mul(ROOM);
    most.max(CONNECTIONS_MIN).next_power_of_two()
}

/// A limit on open files: a balancer needs two for each request.
fn files(host: &Host<'_>) -> u64 {
    2 * connections(host)
}

fn fix(configured: Configured, host: &str, (section, action, directive, value): Change<'_>) -> Fix {
    let [host, section, directive, value] = [host, section, directive, value].map(str::to_owned);
    Fix { host, configured, section, action, directive, value }
}

/// A setting of the kernel of `host`.
pub(super) fn sysctl(host: &str, name: &str, value: &str) -> Fix {
    fix(Configured::Sysctl, host, ("", Set, name, value))
}

/// More local ports on `host`.
pub(super) fn port_range(host: &str) -> Fix {
    sysctl(host, "net.ipv4.ip_local_port_range", "1024 65535")
}

/// A link with room for more than it carried.
pub(super) fn link(host: &str, interface: &str, bits_per_s: u64) -> Vec<Fix> {
    let mbit = bits_per_s.saturating_mul(ROOM).div_ceil(1_000_000);
    vec![fix(Configured::Link, host, (interface, Set, "rate", &format!("{mbit}Mbit/s")))]
}

/// The links of a lab that lose packets. Of other networks, only what a loss costs on `host` can be
/// set: the first timeout is 200 ms, which is long within a data centre.
fn lossless(hosts: &Hosts<'_>, host: &str) -> Vec<Fix> {
    let links = &hosts.case.facts.circumstances.lossy_links;
    if links.is_empty() {
        return vec![sysctl(host, "net.ipv4.tcp_rto_min_us", "20000")];
    }
    let without =
        |(host, interface): &(String, String)| fix(Configured::Link, host, (interface, Set, "loss", "0%"));
    links.iter().map(without).collect()
}

/// A setting of the unit of the service on `host`.
fn unit(hosts: &Hosts<'_>, host: &str, name: &str, value: &str) -> Fix {
    let service = services(hosts, host).next().and_then(|service| service.split(' ').next());
    fix(Configured::Systemd, host, (service.unwrap_or("SERVICE"), Set, name, value))
}

/// The services of `host`, by their names.
fn services<'h>(hosts: &Hosts<'h>, host: &str) -> impl Iterator<Item = &'h str> {
    let all = hosts.case.facts.circumstances.services.iter();
    all.filter(move |(name, _)| name == host).map(|(_, service)| service.as_str())
}

/// The changes of the program that runs on `host`. Where it is unknown, those of both are listed.
fn programs(hosts: &Hosts<'_>, host: &str, nginx: &[Change<'_>], haproxy: &[Change<'_>]) -> Vec<Fix> {
    let runs = |program: &str| {
        let mut own = services(hosts, host).peekable();
        own.peek().is_none() || own.any(|service| service.contains(program))
    };
    let both = [(Configured::Nginx, nginx), (Configured::Haproxy, haproxy)];
    let known = both.into_iter().filter(|(configured, _)| runs(configured.name()));
    known.flat_map(|(configured, all)| all.iter().map(move |one| fix(configured, host, *one))).collect()
}

/// More half-open connections on `host`. Cookies need no place in its queue.
fn half_open(hosts: &Hosts<'_>, host: &Host<'_>) -> Vec<Fix> {
    let fullest = hosts.listeners(host).into_iter().min_by_key(|one| one.fullest.limit);
    let cookies = (host.rise("TcpExt.TCPReqQFullDrop") > 0)
        .then(|| sysctl(host.name(), "net.ipv4.tcp_syncookies", "1"));
    cookies.into_iter().chain(queue(hosts, host, QueueLimit::of(host, fullest))).collect()
}

/// Idle times of servers above that of the balancer `host`. Where the program of `peer` is not
/// known, the balancer gives its connections up first.
fn closed_by_server(hosts: &Hosts<'_>, host: &str, peer: &str) -> Vec<Fix> {
    let runs_nginx = services(hosts, peer).any(|service| service.contains("nginx"));
    if runs_nginx {
        let longer =
            [("http", Set, "keepalive_timeout", "75s"), ("http", Set, "keepalive_requests", "10000")];
        return programs(hosts, peer, &longer, &[]);
    }
    programs(
        hosts,
        host,
        &[("upstream", Set, "keepalive_timeout", "1s")],
        &[("backend", Parameter, "server", "pool-purge-delay 1s")],
    )
}

/// More local ports, and connections to servers that are used again.
fn ports(hosts: &Hosts<'_>, host: &str) -> Vec<Fix> {
    let again = programs(
        hosts,
        host,
        &[
            ("upstream", Set, "keepalive", "64"),
            ("location", Set, "proxy_http_version", "1.1"),
            ("location", Set, "proxy_set_header Connection", "\"\""),
        ],
        &[("backend", Set, "http-reuse", "always")],
    );
    std::iter::once(port_range(host)).chain(again).collect()
}

fn offered_per_s(hosts: &Hosts<'_>) -> f64 {
    let judged = &hosts.case.judged;
    judged.counters.offered as f64 / judged.duration.as_secs_f64().max(1.0)
}

/// A limit for each client that twice the load does not reach.
fn rate_limit(hosts: &Hosts<'_>, host: &str) -> Vec<Fix> {
    let twice = (2.0 * offered_per_s(hosts)).ceil() as u64;
    let (rate, burst) = (format!("rate={twice}r/s"), format!("burst={twice}"));
    programs(
        hosts,
        host,
        &[("http", Parameter, "limit_req_zone", &rate), ("location", Parameter, "limit_req", &burst)],
        &[],
    )
}

/// The header of the PROXY protocol from the balancer to `server`, or none of it.
fn proxy_header(hosts: &Hosts<'_>, server: &str) -> Vec<Fix> {
    let sends = |host: &Host<'_>| services(hosts, host.name()).any(|service| service.contains("haproxy"));
    match hosts.with_role(Role::Balancer).find(sends) {
        Some(balancer) => {
            vec![fix(Configured::Haproxy, balancer.name(), ("backend", Parameter, "server", "send-proxy-v2"))]
        }
        None => programs(hosts, server, &[("server", RemoveParameter, "listen", "proxy_protocol")], &[]),
    }
}

/// A longer accept queue of `host`.
pub(super) fn queue(hosts: &Hosts<'_>, host: &Host<'_>, limit: QueueLimit) -> Vec<Fix> {
    const LONGER: &str = "65535";
    let kernel = sysctl(host.name(), "net.core.somaxconn", LONGER);
    let program = programs(
        hosts,
        host.name(),
        &[("server", Parameter, "listen", &format!("backlog={LONGER}"))],
        &[("frontend", Set, "backlog", LONGER)],
    );
    match limit {
        QueueLimit::Kernel(_) => vec![kernel],
        QueueLimit::Program(_) => program,
        QueueLimit::Unknown => std::iter::once(kernel).chain(program).collect(),
    }
}
