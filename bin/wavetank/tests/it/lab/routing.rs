//! Balancers in the kernel on real labs: which server responds, which address it sees, and what a
//! change breaks.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Program, Signal, skip};

use crate::lab::place::Place;

pub(crate) const DIRECT: &str = "\
networks:
  web: 10.92.0.0/24
hosts:
  load1: {role: load, networks: [web]}
  lb1:
    role: balancer
    networks: [web]
    services:
      - direct_routing: {address: 10.92.0.100, listen: 80, servers: \"web[1-2]\", check: {every: 100ms, timeout: 10s}}
  web[1-2]:
    role: server
    networks: [web]
    services:
      - serve: {listen: 80}
";

/// How the balancer of [`DIRECT`] checks its servers: often, but with a long timeout, since they
/// respond slowly on a busy machine.
pub(crate) const CHECK: &str = "check: {every: 100ms, timeout: 10s}";

pub(crate) const NAT: &str = "\
networks: {front: 10.93.0.0/24, back: 10.93.1.0/24}
hosts:
  load1: {role: load, networks: [front]}
  lb1:
    role: balancer
    networks: {front: {address: 10.93.0.10}, back: {}}
    services:
      - nat: {listen: 80, servers: \"web[1-2]:8080\", masquerade: MASQUERADE, check: {every: 100ms, timeout: 10s, http: /}}
  web[1-2]:
    role: server
    networks: [back]
    services:
      - serve: {listen: 8080}
";

const SERVERS: [&str; 2] = ["web1", "web2"];
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the state of the director of `service` on lb1, once `wanted` is true for it.
#[track_caller]
fn state(place: &Place, service: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let path = place.labs().join(&place.name).join("hosts/lb1").join(service).join("state.json");
    let read = || serde_json::from_slice::<Value>(&std::fs::read(&path).ok()?).ok();
    let found = poll_until(PATIENCE, || read().filter(|state| wanted(state)));
    found.unwrap_or_else(|| panic!("{:?} after {PATIENCE:?}", read()))
}

fn weighs(server: usize, weight: u64) -> impl Fn(&Value) -> bool {
    move |state: &Value| state["servers"][server]["weight"] == weight
}

/// Checks that `count` connections from load1, one after the other, receive a response.
#[track_caller]
pub(crate) fn answered(place: &Place, address: &str, count: usize) {
    let one = format!("curl -sf -m 60 -o /dev/null http://{address}/ || exit 1");
    place.said("load1", &format!("for i in $(seq {count}); do {one}; done"));
}

/// Returns the requests that each server has answered, by its own count.
pub(crate) fn requests(place: &Place, port: u16) -> Vec<u64> {
    let of = |host: &&str| {
        let truth = place.said(host, &format!("curl -sf http://127.0.0.1:{port}/truth"));
        let truth: Value = serde_json::from_str(&truth).expect("/truth is JSON");
        truth["requests"].as_u64().expect("a count")
    };
    SERVERS.iter().map(of).collect()
}

/// Kills the server process on `host`.
fn kill_serve(place: &Place, host: &str) {
    // The brackets keep the shell from finding itself.
    place.said(host, "kill -9 $(pgrep -f '[s]erve --listen')");
}

/// Starts a server on `host` again, until dropped.
fn serve_again(place: &Place, host: &str, port: u16, six: bool) -> wavetank_testkit::Running {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let listen = format!("{}:{port}", if six { "[::]" } else { "0.0.0.0" });
    place.lab(&["exec", host, "--", &program.arguments()[0], "serve", "--listen", &listen]).start()
}

pub(crate) fn tools(test: &str) -> bool {
    let missing = ["curl", "pgrep"].into_iter().find(|name| Program::foreign(name).is_none());
    if let Some(name) = missing {
        skip(test, &format!("`{name}` is not installed"));
    }
    missing.is_none()
}

/// `vip` is the virtual address in URL notation.
#[track_caller]
fn check_direct(name: &str, text: &str, vip: &str) {
    if !tools(name) {
        return;
    }
    let Some(place) = Place::new(name, text) else { return };
    let up = place.up();
    assert!(!up.stdout.contains("(down)"), "{up}");
    answers_do_not_cross_the_balancer(&place, vip);
    the_balancer_alone_answers_for_the_address(&place, vip);
    a_swap_breaks_nothing(&place, vip);
    a_dead_server_leaves_and_comes_back(&place, ("direct_routing", vip), 80);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn direct_routing_holds_what_it_promises() {
    check_direct("direct", DIRECT, "10.92.0.100");
}

#[test]
fn direct_routing_holds_it_with_ipv6() {
    if wavetank_testkit::is_left_to_long_form("direct_routing_holds_it_with_ipv6") {
        return;
    }
    let text = DIRECT.replace("10.92.0.0/24", "\"fd00:92::/64\"").replace("10.92.0.100", "\"fd00:92::100\"");
    check_direct("direct-six", &text, "[fd00:92::100]");
}

fn answers_do_not_cross_the_balancer(place: &Place, vip: &str) {
    const BYTES: u64 = 2_000_000;
    const ANSWERS: u64 = 8;
    let sent = |host: &str| {
        let bytes = place.said(host, "cat /sys/class/net/eth0/statistics/tx_bytes");
        bytes.parse::<u64>().expect("a number")
    };
    let sent_by_all = || SERVERS.iter().map(|host| sent(host)).sum::<u64>();
    let (balancer, servers) = (sent("lb1"), sent_by_all());
    let one = format!("curl -sf -m 60 -o /dev/null http://{vip}/bytes/{BYTES} || exit 1");
    place.said("load1", &format!("for i in $(seq {ANSWERS}); do {one}; done"));
    let (balancer, servers) = (sent("lb1") - balancer, sent_by_all() - servers);
    assert!(servers >= ANSWERS * BYTES, "the servers sent {servers} B");
    // The balancer forwards only requests and acknowledgements, at most one for each full packet of
    // the response.
    assert!(balancer > 0 && balancer < servers / 10, "the balancer sent {balancer} B, the servers {servers}");
}

fn the_balancer_alone_answers_for_the_address(place: &Place, vip: &str) {
    let balancer = place.said("lb1", "cat /sys/class/net/eth0/address");
    let bare = vip.trim_matches(['[', ']']);
    let ask =
        format!("ip neigh flush dev eth0; curl -sf -m 60 -o /dev/null http://{vip}/; ip neigh show {bare}");
    let reported = place.said("load1", &format!("for i in $(seq 8); do {ask}; done"));
    let hardware: Vec<&str> =
        reported.lines().filter_map(|line| line.split_once("lladdr ")?.1.split(' ').next()).collect();
    assert_eq!(hardware, [balancer.as_str(); 8], "{reported}");
}

fn a_swap_breaks_nothing(place: &Place, vip: &str) {
    // Twice from the same ports. If the client closed first, its port is not free again (curl's
    // exit code 45), but some ports are.
    let curl = format!("curl -sf -m 60 -o /dev/null --local-port $port http://{vip}/close");
    let same_ports = format!(
        "n=0; for port in $(seq 45001 45030); do {curl}; case $? in 0) n=$((n+1));; 45) ;; *) exit 1;; esac; done; test $n -gt 2"
    );
    place.said("load1", &same_ports);
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let url = format!("http://{vip}/delay/20ms");
    let words = [
        "exec",
        "load1",
        "--",
        &program.arguments()[0],
        "run",
        &url,
        "-c",
        "40",
        "-d",
        "10m",
        "--format",
        "json",
    ];
    let before = requests(place, 80);
    let run = place.lab(&words).start();
    let busy = poll_until(PATIENCE, || {
        let now = requests(place, 80);
        now.iter().zip(&before).all(|(now, before)| now > &(before + 200)).then_some(())
    });
    assert!(busy.is_some(), "both servers work: {}", run.stderr());
    let folder = place.labs().join(&place.name).join("hosts/lb1/direct_routing");
    let hang_up = "kill -HUP $(pgrep -f '[l]ab-director')";
    std::fs::write(folder.join("weights.json"), "{\"web1\": 0}").expect("can be written");
    place.said("lb1", hang_up);
    state(place, "direct_routing", weighs(0, 0));
    let drained = requests(place, 80);
    let stayed = poll_until(PATIENCE, || (requests(place, 80)[0] > drained[0] + 200).then_some(()));
    assert!(stayed.is_some(), "open connections stay where they were: {drained:?}");
    run.signal(Signal::INT);
    let outcome = run.wait(PATIENCE);
    let (result, after) = (outcome.expect_exit(130).json(), requests(place, 80));
    assert_eq!(result["requests"]["failed"], 0, "{outcome}");
    assert_eq!(result["connections"]["lost"], 0, "{outcome}");
    // New connections go to the other server, also from a port that the first server knew.
    place.said("load1", &same_ports);
    answered(place, vip, 20);
    let later = requests(place, 80);
    assert!(later[0] <= after[0] + 2, "drained, and asked again: {after:?}, {later:?}");
    assert!(later[1] >= after[1] + 22, "{after:?}, {later:?}");
    std::fs::remove_file(folder.join("weights.json")).expect("it was written above");
    place.said("lb1", hang_up);
    state(place, "direct_routing", weighs(0, 1));
}

fn a_dead_server_leaves_and_comes_back(place: &Place, (service, address): (&str, &str), port: u16) {
    kill_serve(place, "web1");
    state(place, service, weighs(0, 0));
    answered(place, address, 30);
    kill_serve(place, "web2");
    state(place, service, |state| state["taking"] == 0);
    // No server is left: new connections are refused immediately and do not wait.
    place.said("load1", &format!("curl -s -m 60 http://{address}/; test $? = 7"));
    let _again = SERVERS.map(|host| serve_again(place, host, port, address.starts_with('[')));
    state(place, service, |state| state["taking"] == 2);
    answered(place, address, 30);
    assert!(requests(place, port).iter().all(|count| *count > 3), "both answer again");
    let log = place.lab(&["logs", "lb1", service]).run();
    for word in ["web1", "is out: Connection refused", "is back in", "0 of 2 servers take connections"] {
        assert!(log.expect_exit(0).stdout.contains(word), "`{word}`: {log}");
    }
}

#[track_caller]
fn check_nat(name: &str, text: &str, masquerade: bool) {
    if !tools(name) {
        return;
    }
    let text = text.replace("MASQUERADE", if masquerade { "true" } else { "false" });
    let six = text.contains("::");
    let balancer = if six { "[fd00:93::10]" } else { "lb1" };
    let Some(place) = Place::new(name, &text) else { return };
    place.up();
    answered(&place, "lb1", 40);
    assert!(requests(&place, 8080).iter().all(|count| *count > 3), "both answer");
    // Responses return through the balancer, by its address or by the servers' routes.
    let sent = "cat /sys/class/net/eth0/statistics/tx_bytes";
    let bytes = || place.said("lb1", sent).parse::<u64>().expect("a number");
    let before = bytes();
    place.said("load1", "curl -sf -m 60 -o /dev/null http://lb1/bytes/1000000");
    assert!(bytes() - before > 1_000_000);
    a_dead_server_leaves_and_comes_back(&place, ("nat", balancer), 8080);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn nat_brings_answers_back_through_the_balancer() {
    check_nat("nat-own", NAT, true);
}

#[test]
fn nat_keeps_clients_addresses_where_servers_route_back() {
    check_nat("nat-client", NAT, false);
}

#[test]
fn nat_does_the_same_with_ipv6() {
    if wavetank_testkit::is_left_to_long_form("nat_does_the_same_with_ipv6") {
        return;
    }
    let text = NAT
        .replace("10.93.0.0/24", "\"fd00:93::/64\"")
        .replace("10.93.1.0/24", "\"fd00:93:1::/64\"")
        .replace("10.93.0.10", "\"fd00:93::10\"");
    check_nat("nat-own-six", &text, true);
    check_nat("nat-client-six", &text, false);
}

#[test]
fn ipvs_is_refused_where_the_kernel_has_none() {
    let text = DIRECT.replace("direct_routing:", "ipvs:");
    let Some(place) = Place::new("ipvs", &text) else { return };
    let up = place.lab(&["up", "lab.yaml"]).run();
    if up.exit == Some(0) {
        answered(&place, "10.92.0.100", 20);
        place.lab(&["down"]).run().expect_exit(0);
    } else {
        assert!(up.expect_exit(5).stderr.contains("[lab_ipvs]"), "{up}");
        skip("ipvs_passes_connections_on", "this kernel has no IPVS; the rejection was tested");
    }
    place.nothing_left("down, or a refusal");
}
