//! Causes on a server that only its firewall, or nothing outside of it, shows.

use super::lab::{Lab, failing, slow};
use wavetank_measure::{HostSample, LogEvent};

#[test]
fn packets_that_no_protocol_receives_are_dropped_by_a_firewall() {
    let received = |delivered, others: &[(&'static str, u64)]| {
        let counters = [("Ip.InReceives", 500), ("Ip.InDelivers", delivered)];
        let missed = ("lb1", vec![("TcpExt.TCPTimeouts", 20)]);
        Lab { rises: vec![("app1", [&counters[..], others].concat()), missed], ..slow() }
    };
    received(450, &[]).check("firewall_drops", "target", "app1");
    // Few packets, or those that the kernel accounts for.
    received(496, &[]).check_clean();
    received(450, &[("Ip.InDiscards", 50)]).check_clean();
    received(400, &[("Ip.ForwDatagrams", 10)]).check_clean();
    // No sender misses them.
    let mut unnoticed = received(450, &[]);
    let _ = unnoticed.rises.pop();
    unnoticed.check_clean();
    // It explains why the server does not answer.
    let log = Some(("lb1", LogEvent::UpstreamUnreachable, 400, "10.0.1.2:80"));
    Lab { log, ..received(450, &[]) }.check("firewall_drops", "target", "app1");
}

#[test]
fn a_server_that_answers_itself_is_named_where_nothing_else_is() {
    let answered =
        |status, segments| Lab { rises: vec![("app1", vec![("Tcp.OutSegs", segments)])], ..failing(status) };
    answered(500, 900).check("server_errors", "target", "servers");
    // A balancer that responds itself does not ask the servers, and it makes a 502 itself.
    for other in [answered(500, 90), answered(502, 900)] {
        let codes: Vec<_> = other.diagnose().findings.iter().map(|one| one.code.as_str()).collect();
        assert!(!codes.contains(&"server_errors"), "{codes:?}");
    }
    let log = Some(("lb1", LogEvent::RateLimited, 400, ""));
    Lab { log, ..answered(503, 900) }.check("rate_limited", "balancer", "lb1");
}

#[test]
fn requests_that_wait_in_a_server_with_idle_cpus_are_its_own() {
    let server = |tcp_established, cpu_user_ns| HostSample {
        tcp_established,
        cpu_user_ns,
        cpus_milli: 2_000,
        ..HostSample::default()
    };
    let run = |established, used| Lab {
        ends: vec![("app1", server(established, used)), ("app2", server(10, 0)), ("app3", server(10, 0))],
        ..slow()
    };
    run(20, 100_000_000).check("slow_responses", "target", "app1");
    // It uses its CPUs, or its connections are idle.
    run(20, 1_000_000_000).check_clean();
    run(39, 100_000_000).check("slow_responses", "target", "app1");
    let none = |n| Lab { ends: vec![("app1", server(n, 0)), ("app2", server(n, 0))], ..slow() };
    none(7).check_clean();
    none(100).check_clean();
}
