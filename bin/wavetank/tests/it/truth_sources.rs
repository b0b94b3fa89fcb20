//! Truth suite: the addresses and ports that connections come from.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{RunHarness, Script, Target};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn target() -> Target {
    Target::start(Script::constant(Duration::from_millis(1)))
}

#[test]
fn addresses_are_used_in_turn_and_no_tuple_twice() {
    let target = target();
    let result =
        trial().run(&target, "-c 4 -n 120 --threads 2 --no-probe --no-keepalive --source 127.0.0.20-22", 0);
    assert_eq!(result.count("connections.opened"), 120, "{result}");
    let truth = target.truth();
    assert_eq!(truth.peers.len(), 120, "each connection has a tuple of its own: {:?}", truth.peers);
    let ports = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").expect("it is there");
    let ports: Vec<u16> = ports.split_whitespace().map(|port| port.parse().expect("a port")).collect();
    assert!(truth.peers.keys().all(|peer| (ports[0]..=ports[1]).contains(&peer.port())), "{:?}", truth.peers);
    let expected: BTreeMap<IpAddr, u64> =
        [20, 21, 22].map(|last| (IpAddr::from([127, 0, 0, last]), 40)).into_iter().collect();
    // The threads may finish different numbers of requests, and each rotates on its own.
    assert_eq!(truth.sources.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(truth.sources.values().all(|count| (33..=47).contains(count)), "{:?}", truth.sources);
}

#[test]
fn auto_on_loopback_is_127_0_0_1_until_its_ports_run_short() {
    let target = target();
    let result = trial().run(&target, "-c 3 -n 30 --no-probe --source auto", 0);
    assert_eq!(result.count("requests.done"), 30, "{result}");
    let truth = target.truth();
    assert_eq!(truth.sources.keys().collect::<Vec<_>>(), [&IpAddr::from([127, 0, 0, 1])]);
}

/// In its own network namespace: twenty ports, three of them reserved, one with a listening socket.
const TWENTY_PORTS: &str = "ip link set lo up; \
    echo 40000 40019 > /proc/sys/net/ipv4/ip_local_port_range; \
    echo 40003-40005 > /proc/sys/net/ipv4/ip_local_reserved_ports; \
    \"$0\" serve --listen 127.0.0.1:40010 >serve.txt & serve=$!; trap 'kill $serve' EXIT; \
    tries=0; until \"$0\" run http://127.0.0.1:40010/ --once --source 127.0.0.1 >/dev/null 2>&1 || [ $((tries += 1)) -gt 100 ]; \
    do :; done; ";

/// Checks the output of `script` inside the namespace.
fn inside(name: &str, script: &str, exit: i32, check: impl Fn(&wavetank_testkit::program::Outcome)) {
    if !NetNs::available(name) {
        return;
    }
    let trial = trial();
    let script = format!("{TWENTY_PORTS}{script}");
    let outcome =
        NetNs::shell(&trial.program().arguments()[0], &script).in_folder(trial.place().path()).run();
    check(outcome.expect_exit(exit));
}

#[test]
fn every_free_port_is_used_and_no_other() {
    // 20 − 3 − 1 = 16, of which three are left to the kernel. All are open simultaneously, and
    // again in a second run right after the first.
    let run = "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.1 -c 13 -n 320 --no-probe --format json";
    inside("every_free_port_is_used_and_no_other", &format!("{run} >first.json; {run}"), 0, |outcome| {
        let result = outcome.result();
        assert_eq!(result.count("requests.done"), 320, "{result}");
        assert_eq!(result.count("connections.opened"), 13, "{result}");
        assert_eq!(result.count("connections.failed"), 0, "{result}");
    });
    let more = "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.1 -c 14 -n 320 --no-probe";
    inside("every_free_port_is_used_and_no_other", more, 5, |outcome| {
        assert!(outcome.stderr.contains("--source auto"), "{outcome}");
    });
    let held = "\"$0\" run http://127.0.0.1:40010/delay/2s --source 127.0.0.1 -c 13 -n 13 --no-probe \
                >/dev/null 2>&1 & tries=0; \
                until [ \"$(ss -Htn state established '( dport = :40010 )' | wc -l)\" -eq 13 ] || \
                  [ $((tries += 1)) -gt 1000 ]; do :; done; \
                ss -Htn state established '( dport = :40010 )' | sed 's/.*127.0.0.1:\\([0-9]*\\) .*/\\1/'; wait $!";
    inside("every_free_port_is_used_and_no_other", held, 0, |outcome| {
        let listed = &outcome.stdout;
        for port in 40_000..40_020 {
            let free = !matches!(port, 40_003..=40_005 | 40_010 | 40_006 | 40_012 | 40_016);
            assert_eq!(listed.contains(&port.to_string()), free, "{port}: {outcome}");
        }
    });
}

#[test]
fn where_no_tuple_is_left_requests_are_dropped_and_that_is_reported() {
    let run = "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.1 -r 100/s -d 3s --no-probe --no-keepalive \
               --format json";
    inside("where_no_tuple_is_left_requests_are_dropped_and_that_is_reported", run, 3, |outcome| {
        let result = outcome.result();
        let (done, dropped) = (result.count("requests.done"), result.count("dropped_by.no_source_address"));
        assert_eq!(done + dropped, 300, "{result}");
        // Thirteen tuples, each available again after a second.
        assert!((26..=52).contains(&done), "{result}");
        assert_eq!(result.count("connections.failed"), 0, "nothing was tried in vain: {result}");
        assert_eq!(result.text("verdict.blame"), "generator", "{result}");
    });
}

#[test]
fn a_closed_run_without_tuples_says_that_its_rate_is_a_lower_bound() {
    // A tuple rests for at least a second, so there are thirteen requests and no more.
    let run = "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.1 -c 5 -n 40 --no-probe --no-keepalive \
               --format json";
    inside("a_closed_run_without_tuples_says_that_its_rate_is_a_lower_bound", run, 0, |outcome| {
        let result = outcome.result();
        assert_eq!(result.status(), "pass", "{result}");
        assert_eq!(result.text("verdict.blame"), "generator", "{result}");
        let dropped = result.count("dropped_by.no_source_address");
        assert_eq!(result.count("requests.done") + dropped, 40, "{result}");
        assert!(dropped > 0, "{result}");
        let headline = result.text("verdict.headline");
        assert!(headline.contains("the generator was the limit"), "{result}");
        assert!(result.at("findings").to_string().contains("--source"), "with its cure: {result}");
    });
}

/// After a load that left all its tuples in `TIME_WAIT`, `command` must still find a port.
fn check_left_over(name: &str, command: &str) {
    let script = format!(
        "echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range; \
         \"$0\" run http://127.0.0.1:40010/ --source 127.0.0.1 -c 2 -n 400 --requests-per-connection 2 \
           --no-probe >first.txt 2>&1 || true; \
         ss -Htn state time-wait '( dport = :40010 )' | wc -l >waiting.txt; \
         [ $(cat waiting.txt) -gt 100 ] || {{ cat first.txt waiting.txt; exit 77; }}; \
         {command}"
    );
    inside(name, &script, 0, |_| {});
}

#[test]
fn a_load_from_tuples_of_its_own_leaves_ports_for_everybody_else() {
    let name = "a_load_from_tuples_of_its_own_leaves_ports_for_everybody_else";
    // The kernel chooses a port, on any address. connect() skips each port that another socket
    // bound by number.
    for _ in 0..3 {
        check_left_over(name, "for i in 1 2 3 4 5 6; do \"$0\" run http://127.0.0.1:40010/ --once; done");
    }
    check_left_over(name, "\"$0\" run http://127.0.0.1:40010/ -c 10 -n 100");
    // Our own probe and `--once` also use tuples.
    check_left_over(name, "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.77 -c 10 -n 100");
    check_left_over(name, "\"$0\" run http://127.0.0.1:40010/ --source 127.0.0.77 --once");
}
