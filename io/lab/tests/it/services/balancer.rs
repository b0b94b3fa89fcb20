//! `HAProxy` and nginx in front of two servers.

use std::net::SocketAddr;
use std::thread;

use serde_json::json;
use wavetank_lab::service::ServiceState;

use crate::services::stand::{LIMIT, Stand, alone, exchange};

/// A balancer's service in front of two static file servers.
fn before_two(service: &str) -> String {
    format!(
        "  lb1: {{role: balancer, networks: {{net: {{sources: 2}}}}, services: [{service}]}}\n  \
         app1: {{networks: [net], services: [{{nginx: {{listen: 9001, pages: {{/a: 10B}}, workers: 1}}}}]}}\n  \
         app2: {{networks: [net], services: [{{nginx: {{listen: 9002, pages: {{/a: 10B}}, workers: 1}}}}]}}\n"
    )
}

const SERVERS: &str = "servers: [\"app1:9001\", \"app2:9002\"]";

/// Sends `count` GETs of `/a`, each on a new connection, from four threads. All responses must have
/// status 200.
#[track_caller]
fn ask(stand: &Stand, port: u16, count: usize) {
    let place = SocketAddr::new(stand.address("lb1"), port);
    let asked = "GET /a HTTP/1.1\r\nHost: lb1\r\nConnection: close\r\n\r\n";
    // New threads are in the network of the thread that starts them.
    let answered = thread::scope(|scope| {
        let part = || (0..count / 4).filter(|_| exchange(place, asked).starts_with("HTTP/1.1 200 ")).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(part)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum::<usize>()
    });
    assert_eq!(answered, count);
}

/// The balancer's own counters.
fn counters(stand: &mut Stand) -> serde_json::Value {
    let answer = stand.hosts[0].handle(&json!({ "counters": true })).expect("it counts");
    answer["counters"][0].clone()
}

#[test]
fn haproxy_copies_share_a_port_and_count_together() {
    alone("haproxy_copies_share_a_port_and_count_together", &["haproxy", "nginx"], || {
        let service = format!(
            "{{haproxy: {{listen: 8080, {SERVERS}, copies: 3, source_ports: ranges, check: {{http: /a, every: 200ms}}, stats: 8404}}}}"
        );
        let mut stand = Stand::new(&before_two(&service));
        stand.start();
        let before = counters(&mut stand);
        ask(&stand, 8080, 120);
        let after = counters(&mut stand);
        let grown =
            |key: &str| after[key].as_u64().unwrap_or_default() - before[key].as_u64().unwrap_or_default();
        assert_eq!((grown("connections"), grown("requests")), (120, 120), "{after}");
        assert_eq!(after["answers"]["2xx"].as_u64().unwrap_or_default(), 120, "{after}");
        let each: Vec<u64> = after["servers"]
            .as_array()
            .expect("servers")
            .iter()
            .filter_map(|one| one["connections"].as_u64())
            .collect();
        assert_eq!(
            (each.len(), each.iter().all(|count| *count > 0)),
            (4, true),
            "two servers from two addresses: {after}"
        );
        assert!(stand.get("lb1", 8404, "/").contains("HAProxy"), "the page of statistics");
        assert_eq!(stand.status(0).pids.len(), 3);
    });
}

#[test]
fn haproxy_over_tcp_goes_on_without_a_dead_server() {
    alone("haproxy_over_tcp_goes_on_without_a_dead_server", &["haproxy", "nginx"], || {
        let service = format!(
            "{{haproxy: {{mode: tcp, listen: 8080, {SERVERS}, check: {{every: 100ms}}, threads: 2}}}}"
        );
        let mut stand = Stand::new(&before_two(&service));
        stand.start();
        ask(&stand, 8080, 40);
        stand.hosts[1].stop_one("nginx").expect("it runs");
        let out = wavetank_testkit::poll_until(LIMIT, || {
            let servers = counters(&mut stand)["servers"].clone();
            (servers[0]["up"] == json!(false)).then_some(servers)
        });
        assert!(out.is_some_and(|servers| servers[1]["up"] == json!(true)), "the other one stays");
        ask(&stand, 8080, 40);
    });
}

#[test]
fn nginx_passes_on_over_kept_connections() {
    alone("nginx_passes_on_over_kept_connections", &["nginx"], || {
        let service = format!("{{nginx: {{listen: 8080, {SERVERS}, workers: 1}}}}");
        let mut stand = Stand::new(&before_two(&service));
        stand.start();
        ask(&stand, 8080, 200);
        let mut servers = 0;
        for host in [1, 2] {
            let answer = stand.hosts[host].handle(&json!({ "counters": true })).expect("it counts");
            servers += answer["counters"][0]["connections"].as_u64().unwrap_or_default();
        }
        assert!(servers < 50, "{servers} connections to servers for 200 requests");
    });
}

#[test]
fn tls_ends_at_the_balancer_with_the_labs_certificate() {
    for kind in ["nginx", "haproxy"] {
        alone("tls_ends_at_the_balancer_with_the_labs_certificate", &["nginx", "haproxy", "curl"], || {
            let service = format!("{{{kind}: {{listen: 8443, tls: true, {SERVERS}}}}}");
            let mut stand = Stand::new(&before_two(&service));
            stand.start();
            assert_eq!(stand.status(0).state, ServiceState::Up);
            let certificate = stand.path(&format!("lb1/{kind}/server.crt"));
            let place = format!("lb1:8443:{}", stand.address("lb1"));
            let outcome = std::process::Command::new("curl")
                .args([
                    "-sS",
                    "--noproxy",
                    "*",
                    "--cacert",
                    &certificate,
                    "--resolve",
                    &place,
                    "https://lb1:8443/a",
                ])
                .output()
                .expect("it is installed");
            let said = String::from_utf8_lossy(&outcome.stderr);
            assert_eq!((outcome.status.success(), outcome.stdout.len()), (true, 10), "{kind}: {said}");
        });
    }
}
