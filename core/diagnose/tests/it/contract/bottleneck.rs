//! The host that was the bottleneck, by recorded counters, logs and what clients saw.

use super::lab::{Lab, failing, slow};
use crate::common::Second;
use wavetank_diagnose::{BalancedServer, BalancerCounts, RunEnd, diagnose};
use wavetank_measure::{
    DestinationSample, ErrorClass, HostCounters, HostSample, Ledger, LinkSample, ListenerSample, LogEvent,
};
use wavetank_units::Nanos;

#[test]
fn a_log_names_the_cause() {
    use LogEvent::{
        BodyTooLarge, BrokenProxyHeader, ConnectionsLimited, NoFiles, NoLiveUpstreams, NoPorts,
        NoPortsToBind, NoWorkerConnections, QueueTimeout, RateLimited, ResponseRejected, ServerError,
        UpstreamClosed, UpstreamRefused, UpstreamTimeout, UpstreamTls, UpstreamUnreachable,
        UpstreamUnresolved,
    };
    let check = |status, (host, event, peer), code: &str, blame: &str, named: &str| {
        Lab { log: Some((host, event, 400, peer)), ..failing(status) }.check(code, blame, named);
    };
    check(502, ("lb1", NoPorts, "10.0.1.2:80"), "host_no_ports", "balancer", "connections to app1");
    check(502, ("lb1", NoPortsToBind, "10.0.1.2:80"), "bound_before_connect", "balancer", "lb1");
    check(502, ("app1", NoFiles, ""), "host_no_files", "target", "app1");
    check(502, ("app1", BrokenProxyHeader, ""), "proxy_header_missing", "balancer", "app1");
    check(502, ("lb1", NoWorkerConnections, ""), "worker_connections", "balancer", "lb1");
    check(502, ("lb1", NoLiveUpstreams, "app"), "no_live_upstreams", "balancer", "lb1");
    check(503, ("lb1", RateLimited, ""), "rate_limited", "balancer", "lb1");
    check(503, ("lb1", ConnectionsLimited, "each"), "rate_limited", "balancer", "lb1");
    check(413, ("lb1", BodyTooLarge, ""), "body_too_large", "balancer", "lb1");
    check(502, ("lb1", UpstreamUnresolved, ""), "upstream_unresolved", "balancer", "lb1");
    check(504, ("lb1", UpstreamUnreachable, "10.0.1.2:80"), "upstream_unreachable", "balancer", "app1");
    check(502, ("lb1", UpstreamRefused, "10.0.1.2:80"), "upstream_refused", "balancer", "app1");
    check(502, ("lb1", UpstreamClosed, "10.0.1.2:80"), "upstream_closed", "balancer", "app1");
    check(503, ("lb1", QueueTimeout, ""), "balancer_queue", "balancer", "lb1");
    check(503, ("lb1", LogEvent::ServerDown, "app1"), "health_flapping", "balancer", "app1");
    check(504, ("lb1", UpstreamTimeout, "10.0.1.2:80"), "balancer_timeout", "balancer", "lb1");
    check(502, ("lb1", UpstreamTls, "10.0.1.2:80"), "upstream_tls", "balancer", "app1");
    check(502, ("lb1", ResponseRejected, "10.0.1.2:80"), "response_rejected", "balancer", "app1");
    check(500, ("lb1", ServerError, "app1"), "server_errors", "target", "app1");
    // A server that accepts all connections does not refuse them: TLS failed after that.
    let accepts = vec![("app1", vec![("Tcp.PassiveOpens", 400)])];
    let log = Some(("lb1", UpstreamRefused, 400, "10.0.1.2:80"));
    Lab { rises: accepts, log, ..failing(503) }.check("upstream_tls", "balancer", "app1");
    // A server that accepts connections can be reached.
    let accepts = vec![("app1", vec![("Tcp.PassiveOpens", 5)])];
    let log = Some(("lb1", UpstreamUnreachable, 400, "10.0.1.2:80"));
    Lab { rises: accepts, log, ..failing(504) }.check("balancer_timeout", "balancer", "app1");
    // Without a status 504 the balancer asked another server.
    check(500, ("lb1", UpstreamTimeout, "10.0.1.2:80"), "upstream_retried", "balancer", "lb1");
}

#[test]
fn a_counter_of_the_kernel_names_the_cause() {
    let quota = ("lb1", vec![("cgroup.periods", 10), ("cgroup.throttled_periods", 9)]);
    Lab { rises: vec![quota.clone()], ..slow() }.check("cpu_quota", "balancer", "lb1");
    Lab { rises: vec![quota.clone()], handshakes: 400, ..slow() }.check("tls_handshakes", "balancer", "lb1");
    // A balancer that is always stopped blames its servers for its own delays.
    let lines = Some(("lb1", LogEvent::UpstreamTimeout, 400, "10.0.1.2:80"));
    Lab { rises: vec![quota.clone()], log: lines, ..failing(504) }.check("cpu_quota", "balancer", "lb1");
    let lines = Some(("lb1", LogEvent::NoLiveUpstreams, 400, "app"));
    Lab { rises: vec![quota.clone()], log: lines, ..failing(502) }.check("cpu_quota", "balancer", "lb1");
    let seldom = ("lb1", vec![("cgroup.periods", 10), ("cgroup.throttled_periods", 3)]);
    Lab { rises: vec![seldom], log: lines, ..failing(502) }.check("no_live_upstreams", "balancer", "lb1");
    let few = ("lb1", vec![("cgroup.periods", 10), ("cgroup.throttled_periods", 1)]);
    Lab { rises: vec![few], ..slow() }.check_clean();

    let address = "0.0.0.0:80".parse().expect("an address");
    let counters = HostCounters {
        listeners: vec![ListenerSample { address, queue: 9, limit: 8, drops: 31 }],
        ..HostCounters::default()
    };
    let full = HostSample { listen_overflows: 31, counters, ..HostSample::default() };
    Lab { ends: vec![("app2", full.clone())], ..slow() }.check("accept_queue_full", "target", "app2");
    // The limit of the queue is the kernel's, or the program's.
    for (somaxconn, known, cure) in
        [(8, "the kernel cuts", "somaxconn=65535"), (4_096, "asked for", "backlog=65535")]
    {
        let mut full = full.clone();
        full.counters.levels = vec![("somaxconn".to_owned(), somaxconn)];
        let found = Lab { ends: vec![("app2", full)], ..slow() }.diagnose();
        let first = &found.findings[0];
        assert!(first.evidence.contains(known) && first.hint.contains(cure), "{first:?}");
    }

    let lossy = [("Tcp.OutSegs", 1_000), ("Tcp.RetransSegs", 20), ("TcpExt.TCPTimeouts", 20)];
    let loss = Lab { rises: vec![("lb1", lossy.to_vec())], ..slow() };
    loss.check("packet_loss", "network", "lb1");
    // A host that does not accept drops packets itself, and a path with smaller packets is learned
    // without timeouts.
    let dropped = ("app1", vec![("TcpExt.ListenDrops", 1)]);
    Lab { rises: vec![("lb1", lossy.to_vec()), dropped], ..slow() }.check_clean();
    Lab { rises: vec![("lb1", lossy[..2].to_vec())], ..slow() }.check_clean();
}

#[test]
fn tracked_connections_are_a_cause_only_where_network_work_uses_the_cpus() {
    let tracked = |softirq, tracked| {
        let rises = vec![("cpu.idle", 20), ("cpu.system", 80 - softirq), ("cpu.softirq", softirq)];
        let levels = vec![("conntrack.used".to_owned(), tracked)];
        let counters = HostCounters { levels, ..HostCounters::default() };
        let ends = vec![("lb1", HostSample { counters, ..HostSample::default() })];
        Lab { rises: vec![("lb1", rises)], ends, ..slow() }
    };
    tracked(30, 5_000).check("connection_tracking", "balancer", "lb1");
    tracked(10, 5_000).check_clean();
    tracked(30, 900).check_clean();
}

#[test]
fn counters_that_many_things_move_are_the_last_evidence() {
    for (counter, code, blame) in [
        ("conntrack.drop", "conntrack_full", "target"),
        ("TcpExt.TCPReqQFullDrop", "syn_queue_full", "target"),
        ("TcpExt.IPReversePathFilter", "reverse_path_filter", "network"),
        ("Tcp.InCsumErrors", "bad_checksums", "network"),
        ("TcpExt.TCPMemoryPressures", "tcp_memory", "target"),
        ("TcpExt.TCPBacklogDrop", "socket_backlog", "target"),
        ("Udp.RcvbufErrors", "udp_buffer_full", "target"),
        ("TcpExt.TCPToZeroWindowAdv", "slow_reader", "target"),
    ] {
        let moved = || vec![("app3", vec![(counter, 500)])];
        Lab { rises: moved(), ..slow() }.check(code, blame, "app3");
        // It is no finding in a run that passes, or of the host that sends the load.
        Lab { rises: moved(), ..Lab::default() }.check_clean();
        let own = vec![("load1", vec![(counter, 500)])];
        Lab { rises: own, ..slow() }.check_clean();
        let log = Some(("lb1", LogEvent::NoPorts, 400, ""));
        Lab { rises: moved(), log, ..failing(502) }.check("host_no_ports", "balancer", "lb1");
    }
}

#[test]
fn delayed_acknowledgements_are_those_of_small_writes() {
    // The host that waits is not the one that writes.
    for (waits, blame, writes) in
        [("load1", "balancer", "lb1"), ("lb1", "target", "app2"), ("app3", "balancer", "lb1")]
    {
        let sent = ("app2", vec![("Tcp.OutSegs", 900)]);
        let rises = vec![(waits, vec![("TcpExt.DelayedACKs", 400)]), sent];
        Lab { rises, ..slow() }.check("delayed_acks", blame, writes);
    }
    let rises = vec![("load1", vec![("TcpExt.DelayedACKs", 90)])];
    Lab { rises, ..slow() }.check_clean();
}

#[test]
fn a_full_link_is_the_network_s() {
    let link = |out_bytes| HostCounters {
        links: vec![LinkSample {
            interface: "eth0".to_owned(),
            bits_per_s: 20_000_000,
            in_bytes: 0,
            out_bytes,
        }],
        ..HostCounters::default()
    };
    let check = |bytes_per_s: u64, expected: Option<&str>| {
        let plan = slow().plan();
        let mut ledger = Ledger::new(&plan);
        for at in 0..4_u32 {
            let counters = link(bytes_per_s * u64::from(at));
            let at = Nanos::from_secs(i64::from(at) - 1);
            ledger.observe_other("lb1", &HostSample { at, counters, ..HostSample::default() });
        }
        (0..2).for_each(|at| drop(ledger.add(&Second::at(at).done(400, 30).seal())));
        let found = diagnose(&plan, &ledger, &RunEnd::Finished, &slow().context());
        assert_eq!(found.findings.first().map(|one| one.code.as_str()), expected, "{bytes_per_s}");
        assert_eq!(found.verdict.blame.name() == "network", expected.is_some());
    };
    check(2_400_000, Some("link_full"));
    check(1_000_000, None);
}

#[test]
fn what_clients_saw_and_where_connections_are_name_the_cause() {
    let counted = |status, counts| Lab { counts, ..failing(status) };
    let queued = BalancerCounts { queue_max: 60, ..BalancerCounts::default() };
    counted(503, queued).check("balancer_queue", "balancer", "lb1");
    let full = BalancerCounts { full: Some(100), ..BalancerCounts::default() };
    counted(503, full).check("balancer_maxconn", "balancer", "lb1");
    let rejected = BalancerCounts { rejected: 400, ..BalancerCounts::default() };
    counted(429, rejected.clone()).check("rate_limited", "balancer", "lb1");
    counted(504, rejected).check("balancer_timeout", "balancer", "lb1");
    let slowed = BalancerCounts { rate_limit: Some(10), ..BalancerCounts::default() };
    Lab { counts: slowed, ..slow() }.check("rate_limited", "balancer", "lb1");
    let server = |is_up| BalancedServer { name: "app1".to_owned(), is_up, ..BalancedServer::default() };
    let out = |is_up| BalancerCounts {
        servers: vec![server(false), server(is_up)],
        queue_max: 9,
        ..BalancerCounts::default()
    };
    counted(503, out(false)).check("no_live_upstreams", "balancer", "lb1");
    counted(503, out(true)).check("balancer_queue", "balancer", "lb1");
    // All servers are out at the end, and each was out many times before.
    let log = Some(("lb1", LogEvent::ServerDown, 40, "app1"));
    Lab { log, ..counted(503, out(false)) }.check("health_flapping", "balancer", "app1");
    failing(504).check("balancer_timeout", "balancer", "lb1");
    failing(408).check("client_timeout", "balancer", "lb1");
    let left = HostCounters { levels: vec![("state.close_wait".to_owned(), 32)], ..HostCounters::default() };
    let balancer = HostSample { tcp_established: 225, counters: left, ..HostSample::default() };
    let server = HostSample { tcp_established: 200, ..HostSample::default() };
    Lab {
        failed: Some((200, ErrorClass::RequestTimeout)),
        ends: vec![("lb1", balancer), ("app1", server.clone())],
        ..Lab::default()
    }
    .check("abandoned_requests", "target", "app1");
    Lab { ends: vec![("app1", server)], ..slow() }.check("slow_server", "target", "app1");
    let resting = HostSample { tcp_tw: 40, ..HostSample::default() };
    let closed = |ends, is_tcp| Lab {
        threshold: Some("lost = 0"),
        lost: 30,
        ends,
        counts: BalancerCounts { is_tcp, ..BalancerCounts::default() },
        ..Lab::default()
    };
    closed(vec![("lb1", resting.clone())], false).check("closed_by_host", "balancer", "lb1");
    // Clients lose connections to the balancer, unless it only passes them on.
    let both = || {
        let more = HostSample { tcp_tw: 60, ..HostSample::default() };
        vec![("lb1", resting.clone()), ("app1", more)]
    };
    closed(both(), false).check("closed_by_host", "balancer", "lb1");
    closed(both(), true).check("closed_by_host", "target", "app1");
    // Clients that answer with resets leave nothing to remember on the balancer. What servers close
    // are connections of the balancer.
    let server = vec![("app1", HostSample { tcp_tw: 60, ..HostSample::default() })];
    let answers = vec![("load1", vec![("Tcp.OutRsts", 15)])];
    Lab { rises: answers, ..closed(server, false) }.check("closed_by_host", "balancer", "lb1");
}

#[test]
fn a_change_of_the_plan_names_the_cause() {
    let cut = Lab { failed: Some((20, ErrorClass::ClosedEarly)), ..Lab::default() };
    Lab { event: Some("pkill -HUP nginx"), ..cut }.check("cut_by_reload", "balancer", "lb1");
    // Repeated requests passed.
    let repeated = |retried| Lab { retried, lost: 20, event: Some("nginx -s reload"), ..Lab::default() };
    repeated(20).check("cut_by_reload", "balancer", "lb1");
    repeated(0).check_clean();
    let resets = vec![("app2", vec![("Tcp.OutRsts", 20)])];
    Lab {
        threshold: Some("lost = 0"),
        lost: 30,
        rises: resets,
        event: Some("pool direct_routing web1 drain"),
        ..Lab::default()
    }
    .check("flows_forgotten", "balancer", "lb1");
}

/// Bytes that hosts received: the balancer, and the first and the second server.
fn shares(balancer: u64, first: u64, second: u64) -> Lab {
    let received = |net_in_bytes| HostSample { net_in_bytes, ..HostSample::default() };
    let ends = vec![("lb1", received(balancer)), ("app1", received(first)), ("app2", received(second))];
    Lab { ends, ..Lab::default() }
}

#[test]
fn a_run_that_passed_names_what_is_uneven_or_near() {
    shares(2_000, 1_000, 10).check("one_server_only", "balancer", "app1");
    shares(100, 1_000, 10).check("balancer_bypassed", "target", "app1");
    shares(2_000, 1_000, 900).check_clean();
    let backup = BalancedServer { is_backup: true, ..BalancedServer::default() };
    let servers = vec![BalancedServer::default(), backup.clone(), backup];
    let counts = BalancerCounts { servers, ..BalancerCounts::default() };
    Lab { counts, ..shares(2_000, 1_000, 10) }.check_clean();
    let ports = |ports| {
        let destination = DestinationSample {
            address: "10.0.1.2:80".parse().expect("an address"),
            ports,
            resting: 0,
            range: 4_000,
        };
        let counters = HostCounters { destinations: vec![destination], ..HostCounters::default() };
        Lab { ends: vec![("lb1", HostSample { counters, ..HostSample::default() })], ..Lab::default() }
    };
    ports(2_100).check("ports_half_used", "balancer", "lb1");
    ports(1_900).check_clean();
    Lab::default().check_clean();
}

#[test]
fn what_waits_without_a_failure_names_the_cause() {
    let queued = |queue_max| {
        let counts = BalancerCounts { queue_max, ..BalancerCounts::default() };
        Lab { counts, ..slow() }
    };
    queued(20).check("balancer_queue", "balancer", "lb1");
    queued(4).check_clean();
    let waiting = |queue, drops| {
        let address = "0.0.0.0:80".parse().expect("an address");
        let listeners = vec![ListenerSample { address, queue, limit: 1_024, drops }];
        let counters = HostCounters { listeners, ..HostCounters::default() };
        Lab { ends: vec![("app2", HostSample { counters, ..HostSample::default() })], ..slow() }
    };
    waiting(300, 0).check("slow_accept", "target", "app2");
    // A tenth of a second, at 400 a second.
    waiting(40, 0).check_clean();
}
