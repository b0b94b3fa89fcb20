//! A router's message about a response packet reaches the server that sent it, through direct
//! routing.

use std::time::Duration;

use wavetank_testkit::clock::poll_until;

use crate::lab::place::Place;
use crate::lab::pool::pool;
use crate::lab::routing::{PATIENCE, answered, tools};

/// A client behind a router. During the test the router's link to the client gets a smaller MTU
/// than the servers' links.
const LAB: &str = "\
networks: {front: 10.96.0.0/24, web: 10.96.1.0/24}
hosts:
  load1: {role: load, networks: [front], routes: [{to: 10.96.1.0/24, via: rt}]}
  rt: {networks: [front, web], sysctls: {net.ipv4.ip_forward: 1}}
  lb1:
    role: balancer
    networks: [web]
    services:
      - direct_routing: {address: 10.96.1.100, listen: 80, servers: \"web[1-2]\", check: {every: 100ms, timeout: 10s}}
  web[1-2]:
    role: server
    networks: [web]
    routes: [{to: 10.96.0.0/24, via: rt}]
    services:
      - serve: {listen: 80}
";

/// More than a few packets.
const BYTES: u32 = 500_000;
/// MTU of the link to the client at the end, in bytes. IPv6 requires at least 1,280.
const NARROW: u32 = 1_300;

/// A bash command that requests `path` on the connection that it has as file 3.
fn ask(path: &str, header: &str) -> String {
    format!("printf 'GET {path} HTTP/1.1\\r\\nHost: web\\r\\n{header}\\r\\n' >&3")
}

/// `vip` is the virtual address in URL notation.
#[track_caller]
fn check(name: &str, text: &str, vip: &str) {
    if !tools(name) {
        return;
    }
    let Some(place) = Place::new(name, text) else { return };
    place.up();
    // The second response on this connection starts when its server has left the slots and the MTU
    // has changed. A lookup in the slots would notify the other server.
    let (first, second) = (ask("/", ""), ask(&format!("/bytes/{BYTES}"), "Connection: close\\r\\n"));
    let both = format!(
        "exec 3<>/dev/tcp/{}/80; {first}; until test -e /run/narrow; do sleep 0.05; done; {second}; cat <&3 > /run/answers; \
         wc -c < /run/answers; grep -ao 'HTTP/1.1 200' /run/answers | wc -l",
        vip.trim_matches(['[', ']'])
    );
    let client = place.lab(&["exec", "load1", "--", "bash", "-c", &both]).start();
    let its = poll_until(PATIENCE, || pool(&place, &[]).iter().position(|server| server["flows"] == 1));
    let its = its.unwrap_or_else(|| panic!("no connection: {}", client.stderr()));
    let (server, other) = if its == 0 { ("web1", "web2") } else { ("web2", "web1") };
    let drained = pool(&place, &[server, "drain"]);
    assert_eq!(drained[its]["weight"], 0, "{drained:?}");
    place.said("rt", &format!("ip link set eth0 mtu {NARROW}"));
    place.said("load1", "touch /run/narrow");
    let outcome = client.wait(Duration::from_secs(90));
    let reported: Vec<u32> =
        outcome.expect_exit(0).stdout.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(reported.len() == 2 && reported[0] > BYTES && reported[1] == 2, "both answers: {outcome}");
    let client = place.said("web1", "getent hosts load1 | cut -d' ' -f1");
    let way = |host: &str| place.said(host, &format!("ip route get {client}"));
    let narrow = format!("mtu {NARROW}");
    assert!(way(server).contains(&narrow), "the sender has received the message: {}", way(server));
    assert!(!way(other).contains(&narrow), "the other one has sent nothing: {}", way(other));
    // The message also arrives for new connections, whichever server they reach.
    pool(&place, &[server, "ready"]);
    answered(&place, &format!("{vip}/bytes/{BYTES}#"), 10);
    let narrow_ways = ["web1", "web2"].iter().filter(|host| way(host).contains(&narrow)).count();
    assert_eq!(narrow_ways, 2, "both have sent answers");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn a_server_hears_that_its_packets_are_too_large() {
    check("told", LAB, "10.96.1.100");
}

#[test]
fn a_server_hears_it_with_ipv6() {
    let text = LAB
        .replace("10.96.0.0/24", "\"fd00:96::/64\"")
        .replace("10.96.1.0/24", "\"fd00:96:1::/64\"")
        .replace("10.96.1.100", "\"fd00:96:1::100\"")
        .replace("net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding");
    check("told-six", &text, "[fd00:96:1::100]");
}
