//! The host that was the bottleneck: labs with one fault each, and one without.

use wavetank_testkit::{Program, skip};

use crate::lab::place::Place;

/// A lab with a balancer, `nginx` with the file `my.conf`, in front of servers.
fn lab(balancer: &str, servers: &str) -> String {
    format!(
        "networks: {{front: 10.93.0.0/24, back: 10.93.1.0/24}}\nhosts:\n  load1: {{role: load, networks: [front]}}\n  \
         lb1:\n    role: balancer\n    networks: {balancer}\n  {servers}: {{role: server, networks: [back], services: \
         [{{serve: {{listen: 8080, any: true}}}}]}}\n"
    )
}

/// The configuration of nginx with these lines in its `http`, in its upstream and in its location.
fn nginx(http: &str, upstream: &str, location: &str) -> String {
    format!(
        "worker_processes 1;\nevents {{ worker_connections 1024; }}\nhttp {{\n  access_log off;\n  {http}\n  upstream app \
         {{ {upstream} }}\n  server {{\n    listen 8080;\n    location / {{ {location} proxy_pass http://app; \
         proxy_http_version 1.1; proxy_set_header Connection \"\"; }}\n  }}\n}}\n"
    )
}

const SERVICES: &str = "[front, back]\n    services: [{nginx: {listen: 8080, config: my.conf}}]";

/// The run must end with `exit`. Its first finding must be `code` with this blame, and name the
/// host. Without a code it must have none about a bottleneck.
#[track_caller]
fn check(
    test: &str,
    (lab, config): (&str, &str),
    (load, exit): (&str, i32),
    expected: Option<(&str, &str, &str)>,
) {
    if Program::foreign("nginx").is_none() {
        return skip(test, "nginx is not installed");
    }
    let Some(place) = Place::new(test, lab) else { return };
    place.file("my.conf", config);
    let load = format!("wavetank: 1\nname: bottleneck\ntarget: http://lb1:8080\n{load}\n");
    let Some((outcome, record)) = place.run_on_time(&load, exit) else { return };
    // How late the generator was depends on the machine.
    let own = ["late", "lag", "stalled", "dropped", "starved", "steal"];
    let findings = record["findings"].as_array().cloned().unwrap_or_default();
    let first = findings.iter().find(|one| !own.iter().any(|code| one["code"] == *code));
    let Some((code, blame, host)) = expected else {
        assert_eq!(first, None, "{outcome}");
        return;
    };
    let first = first.unwrap_or_else(|| panic!("no finding: {outcome}"));
    assert_eq!((&first["code"], &first["blame"]), (&code.into(), &blame.into()), "{outcome}");
    assert!(first["message"].as_str().is_some_and(|text| text.contains(host)), "{first}");
    if exit != 0 {
        assert_eq!(record["verdict"]["blame"], blame, "{outcome}");
    }
}

#[test]
fn a_balancer_without_ports_is_named() {
    let balancer = "[front, back]\n    sysctls: {net.ipv4.ip_local_port_range: 40000 40099, \
                    net.ipv4.tcp_tw_reuse: 0}\n    services: [{nginx: {listen: 8080, config: my.conf}}]";
    let config = nginx("", "server app1:8080;", "");
    let load = "steps: [{get: /}]\nphases: [{name: full, rate: 60/s, for: 3s}]";
    let expected = Some(("host_no_ports", "balancer", "lb1"));
    check("no-ports", (&lab(balancer, "app1"), &config), (load, 1), expected);
}

#[test]
fn a_limit_for_each_client_is_named() {
    let zone = "limit_req_zone $binary_remote_addr zone=each:10m rate=20r/s;";
    let config = nginx(zone, "server app1:8080; keepalive 16;", "limit_req zone=each;");
    let load = "steps: [{get: /}]\nphases: [{name: full, rate: 60/s, for: 2s}]";
    let expected = Some(("rate_limited", "balancer", "lb1"));
    check("limited", (&lab(SERVICES, "app1"), &config), (load, 1), expected);
}

#[test]
fn a_full_link_is_named() {
    let balancer =
        "{front: {rate: 4Mbit/s}, back: }\n    services: [{nginx: {listen: 8080, config: my.conf}}]";
    let config = nginx("", "server app1:8080; keepalive 16;", "");
    let load = "steps: [{get: /bytes/20000}]\nhttp: {timeout: 2s}\nphases: [{name: full, rate: 50/s, for: 4s}]\n\
                thresholds: [p95 < 100ms]";
    let expected = Some(("link_full", "network", "lb1"));
    check("full-link", (&lab(balancer, "app1"), &config), (load, 1), expected);
}

#[test]
fn a_balancer_that_uses_one_server_is_named() {
    let config =
        nginx("", "ip_hash; server app1:8080; server app2:8080; server app3:8080; keepalive 16;", "");
    let load = "steps: [{get: /}]\nphases: [{name: full, rate: 60/s, for: 3s}]";
    let expected = Some(("one_server_only", "balancer", "lb1"));
    check("one-server", (&lab(SERVICES, "app[1-3]"), &config), (load, 0), expected);
}

#[test]
fn a_run_without_a_limit_has_no_bottleneck() {
    let config = nginx("", "server app1:8080; server app2:8080; keepalive 16;", "");
    let load = "steps: [{get: /}]\nphases: [{name: full, rate: 60/s, for: 3s}]";
    check("no-limit", (&lab(SERVICES, "app[1-2]"), &config), (load, 0), None);
}

#[test]
fn a_reload_that_ends_requests_is_named() {
    // Those that may be repeated are sent again, and others fail. A few requests on connections
    // without an earlier answer fail in any case.
    let plain = nginx("", "server app1:8080; keepalive 16;", "");
    let config = |timeout: &str| format!("worker_shutdown_timeout {timeout};\n{plain}");
    let cut = Some(("cut_by_reload", "balancer", "lb1"));
    for (step, test, timeout, exit, expected) in [
        ("get", "reload-repeated", "100ms", 0, cut),
        ("post", "reload-failed", "100ms", 1, cut),
        ("get", "reload-finished", "5s", 0, None),
    ] {
        let load = format!(
            "steps: [{{{step}: /delay/500ms}}]\nphases: [{{name: full, rate: 50/s, for: 4s}}]\nevents: [{{when: 2s, host: \
             lb1, run: \"pkill -HUP -o -f 'nginx: master'\"}}]\nthresholds: [failed < 4%]"
        );
        check(test, (&lab(SERVICES, "app1"), &config(timeout)), (&load, exit), expected);
    }
}

/// A load of 300/s on a balancer of which nginx does nothing for 200 ms at a time, and the settings
/// of its host.
fn frozen_at_times(settings: &str) -> (String, String, &'static str) {
    let balancer = format!(
        "[front, back]\n    sysctls: {{{settings}}}\n    services: [{{nginx: {{listen: 8080, config: my.conf}}}}]"
    );
    let load = "steps: [{get: /}]\nhttp: {timeout: 5s}\nconnection: session\nphases: [{name: full, rate: 300/s, for: 5s}]\nevents: [{when: \
                1s, host: lb1, run: \"fault slow nginx 200ms\", for: 3s}]\nthresholds: [p99 < 900ms]";
    (lab(&balancer, "app1"), nginx("", "server app1:8080; keepalive 64;", ""), load)
}

#[test]
fn a_queue_that_the_kernel_cuts_is_named() {
    let (lab, config, load) = frozen_at_times("net.core.somaxconn: 16");
    check("cut-queue", (&lab, &config), (load, 1), Some(("accept_queue_full", "balancer", "lb1")));
}

#[test]
fn a_longer_queue_cures_it() {
    let (lab, config, load) = frozen_at_times("net.core.somaxconn: 65535");
    check("long-queue", (&lab, &config), (load, 0), None);
}
