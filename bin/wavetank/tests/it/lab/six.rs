//! A lab of IPv6, together with IPv4 and alone: names, services, and load from several addresses.

use std::collections::BTreeSet;

use wavetank_testkit::{Program, skip};

use crate::lab::place::Place;
use crate::lab::routing::tools;

/// Clients with IPv6 only and with both, a balancer with both, and servers with IPv6 only.
const LAB: &str = "\
networks: {four: 10.98.0.0/24, six: \"fd00:98::/64\", back: \"fd00:98:1::/64\"}
hosts:
  load1: {role: load, networks: [six], sources: 3}
  load2: {role: load, networks: [four, six]}
  lb1:
    role: balancer
    networks: {four: {}, six: {address: \"fd00:98::10\"}, back: {sources: 2}}
    services:
      - haproxy: {mode: http, listen: 8080, servers: \"web[1-2]:80\", source_ports: ranges, stats: 8404}
      - nginx: {listen: 8081, servers: \"web[1-2]:80\"}
  web1: {role: server, networks: [back], services: [serve: {listen: 80, any: true}]}
  web2: {role: server, networks: [back], services: [nginx: {listen: 80}]}
";

/// Checks that `host` gets the status 200 from `url`.
#[track_caller]
fn check(place: &Place, host: &str, url: &str) {
    let reported = place.said(host, &format!("curl -s -m 60 -o /dev/null -w '%{{http_code}}' '{url}'"));
    assert_eq!(reported, "200", "{host}: {url}");
}

#[test]
fn a_lab_speaks_ipv6() {
    let test = "a_lab_speaks_ipv6";
    if !tools(test) {
        return;
    }
    for program in ["haproxy", "nginx"] {
        if Program::foreign(program).is_none() {
            return skip(test, &format!("`{program}` is not installed"));
        }
    }
    let Some(place) = Place::new("six", LAB) else { return };
    place.up();
    // The first address of a network is the anycast address of its routers, so no host has it.
    assert_eq!(place.said("lb1", "getent hosts web1 | cut -d' ' -f1"), "fd00:98:1::3");
    assert_eq!(place.said("load2", "getent ahostsv6 lb1.six | head -1 | cut -d' ' -f1"), "fd00:98::10");
    for host in ["load1", "load2"] {
        for url in
            ["http://lb1:8080/", "http://lb1.six:8081/", "http://[fd00:98::10]:8080/", "http://lb1:8404/"]
        {
            check(&place, host, url);
        }
    }
    check(&place, "load2", "http://lb1.four:8080/");
    check(&place, "lb1", "http://web2/");
    // Each host has only its own name, and connections that a host opens itself come from its first
    // address.
    let own = place.said("load1", "ip -6 route get fd00:98::10 | sed 's/.* src \\([^ ]*\\).*/\\1/'");
    assert_eq!(own, "fd00:98::1", "the first of three");
    load_comes_from_all_addresses(&place);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

fn load_comes_from_all_addresses(place: &Place) {
    // Records the source address of every new connection.
    let watch = "nft -f - <<'END'\ntable ip6 seen {\n  set from { type ipv6_addr; flags dynamic; size 100; }\n  chain in {\n    \
                 type filter hook input priority 0;\n    tcp dport 8080 tcp flags syn add @from { ip6 saddr }\n  }\n}\nEND";
    place.said("lb1", watch);
    let experiment = "wavetank: 1\nname: six\ntarget: http://lb1.six:8080\nsources: auto\nsteps: [{get: /}]\n\
                      phases:\n  - {name: main, users: 12, for: 2s}\nthresholds: [failed = 0]\n";
    place.file("load.yaml", experiment);
    let run = place.lab(&["run", "lab.yaml", "load.yaml", "--format", "json", "--quiet"]).run();
    assert!(run.expect_exit(0).json()["requests"]["done"].as_u64() > Some(20), "{run}");
    let reported = place.said("lb1", "nft list set ip6 seen from");
    let from: BTreeSet<&str> =
        reported.split([' ', ',', '\n', '\t']).filter(|word| word.starts_with("fd00:98::")).collect();
    let all: BTreeSet<&str> = ["fd00:98::1", "fd00:98::2", "fd00:98::3", "fd00:98::4"].into();
    assert_eq!(from, all, "{reported}");
}
