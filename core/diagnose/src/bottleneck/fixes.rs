//! The changes of settings that remove a cause.

use FixAction::{Parameter, Remove, RemoveParameter, Set};

use super::host::{Host, Hosts, Role};
use super::listeners::QueueLimit;
use crate::{Configured, Fix, FixAction};

/// Limits are raised to this many times what was used.
const ROOM: u64 = 4;
/// Limits on connections are raised to at least this.
const CONNECTIONS_MIN: u64 = 4_096;
/// A balancer waits this long for responses and for clients afterwards.
const TIMEOUT: &str = "60s";

/// A change of a program's configuration: section, action, directive, value.
type Change<'c> = (&'c str, FixAction, &'c str, &'c str);

/// Returns the changes on `host` that remove the cause `code`; none if no setting does.
pub(super) fn of(code: &str, hosts: &Hosts<'_>, host: &Host<'_>) -> Vec<Fix> {
    let name = host.name();
    let program = |nginx: &[Change<'_>], haproxy: &[Change<'_>]| programs(hosts, name, nginx, haproxy);
    let (most, files) = (connections(host).to_string(), files(host).to_string());
    match code {
        "host_no_ports" | "ports_half_used" => ports(hosts, name),
        "host_no_files" => std::iter::once(unit(hosts, name, "LimitNOFILE", &files))
            .chain(program(&[("", Set, "worker_rlimit_nofile", &files)], &[]))
            .collect(),
        "worker_connections" => program(
            &[("events", Set, "worker_connections", &most), ("", Set, "worker_rlimit_nofile", &files)],
            &[],
        ),
        "balancer_maxconn" => {
            program(&[], &[("global", Set, "maxconn", &most), ("frontend", Set, "maxconn", &most)])
        }
        "balancer_queue" => program(&[], &[("backend", Parameter, "server", &format!("maxconn {most}"))]),
        "balancer_timeout" => program(&[SLOW_RESPONSES], &[("defaults", Set, "timeout server", TIMEOUT)]),
        "upstream_retried" => program(
            &[SLOW_RESPONSES, ("location", RemoveParameter, "proxy_next_upstream", "non_idempotent")],
            &[("defaults", Set, "timeout server", TIMEOUT), ("backend", Remove, "retry-on", "")],
        ),
        "no_live_upstreams" => {
            program(&[("upstream", Parameter, "server", "max_fails=0"), SLOW_RESPONSES], &[])
        }
        "closed_by_host" => program(
            &[("http", Set, "keepalive_timeout", TIMEOUT), ("http", Set, "keepalive_requests", "10000")],
            &[
                ("defaults", Set, "timeout client", TIMEOUT),
                ("defaults", Set, "timeout http-keep-alive", TIMEOUT),
            ],
        ),
        "cut_by_reload" => program(
            &[("", Set, "worker_shutdown_timeout", TIMEOUT)],
            &[("global", Set, "hard-stop-after", TIMEOUT)],
        ),
        "tls_handshakes" => program(
            &[
                ("http", Set, "ssl_session_cache", "shared:tls:10m"),
                ("http", Set, "ssl_session_timeout", "1h"),
                ("http", Set, "ssl_session_tickets", "on"),
            ],
            &[("global", Set, "tune.ssl.cachesize", "20000"), ("global", Remove, "no-tls-tickets", "")],
        ),
        "rate_limited" => rate_limit(hosts, name),
        "cpu_quota" => {
            let percent = (host.stats.cpus() * 100.0).ceil() as u64 * ROOM;
            vec![unit(hosts, name, "CPUQuota", &format!("{percent}%"))]
        }
        "balancer_bypassed" => vec![
            sysctl(name, "net.ipv4.conf.all.arp_ignore", "1"),
            sysctl(name, "net.ipv4.conf.all.arp_announce", "2"),
        ],
        "reverse_path_filter" => vec![sysctl(name, "net.ipv4.conf.all.rp_filter", "2")],
        "proxy_header_missing" => proxy_header(hosts, name),
        _ => balancing(code, program),
    }
}

/// The changes of how a balancer chooses servers, or how its workers share connections.
fn balancing(code: &str, program: impl Fn(&[Change<'_>], &[Change<'_>]) -> Vec<Fix>) -> Vec<Fix> {
    match code {
        "one_server_only" => program(
            &[("upstream", Remove, "ip_hash", ""), ("upstream", Remove, "hash", "")],
            &[("backend", Set, "balance", "roundrobin")],
        ),
        "slow_server" => {
            program(&[("upstream", Set, "least_conn", "")], &[("backend", Set, "balance", "leastconn")])
        }
        "health_flapping" => program(
            &[],
            &[
                ("backend", Parameter, "server", "inter 2s"),
                ("backend", Parameter, "server", "fall 3"),
                ("backend", Parameter, "server", "rise 2"),
                ("defaults", Set, "timeout check", "2s"),
            ],
        ),
        "stuck_worker" => program(&[("server", RemoveParameter, "listen", "reuseport")], &[]),
        _ => Vec::new(),
    }
}

/// A longer wait of nginx for a response.
const SLOW_RESPONSES: Change<'static> = ("location", Set, "proxy_read_timeout", TIMEOUT);

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

/// A limit for each client that twice the load does not reach.
fn rate_limit(hosts: &Hosts<'_>, host: &str) -> Vec<Fix> {
    let judged = &hosts.case.judged;
    let per_s = judged.counters.offered as f64 / judged.duration.as_secs_f64().max(1.0);
    let twice = (2.0 * per_s).ceil() as u64;
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
