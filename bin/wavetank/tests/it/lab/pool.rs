//! `wavetank lab pool`: servers behind balancers are shown, drained and returned while connections
//! stay open, by command and by an experiment's events.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Program, skip};

use crate::lab::place::Place;
use crate::lab::routing::{CHECK, DIRECT, NAT, PATIENCE, answered, requests, tools};

const HAPROXY: &str = "\
networks: {front: 10.94.0.0/24, back: 10.94.1.0/24}
hosts:
  load1: {role: load, networks: [front]}
  lb1:
    role: balancer
    networks: {front: {address: 10.94.0.10}, back: {sources: 2}}
    services:
      - haproxy: {mode: tcp, listen: 80, servers: \"web[1-2]:8080\", copies: 2, source_ports: ranges}
  web[1-2]:
    role: server
    networks: [back]
    services:
      - serve: {listen: 8080}
";

/// Connections of the load during pool changes.
const LIVE: u64 = 40;

/// Returns the output of `lab pool lb1 WORDS` for each of the two servers.
#[track_caller]
pub(crate) fn pool(place: &Place, words: &[&str]) -> [Value; 2] {
    let reported = place.lab(&[["pool", "lb1", "--format", "json"].as_slice(), words].concat()).run();
    let servers = reported.expect_exit(0).json()["pools"][0]["servers"].clone();
    let two: Vec<Value> = servers.as_array().unwrap_or_else(|| panic!("{reported}")).clone();
    two.try_into().unwrap_or_else(|_| panic!("two servers: {reported}"))
}

/// Starts a load of connections that stay open, from load1 to `address`.
fn load(place: &Place, address: &str, seconds: &str) -> wavetank_testkit::Running {
    let program = Program::new(env!("CARGO_BIN_EXE_wavetank"));
    let url = format!("http://{address}/delay/20ms");
    let count = LIVE.to_string();
    let words = ["run", &url, "-c", &count, "-d", seconds, "--format", "json"];
    place.lab(&[["exec", "load1", "--", &program.arguments()[0]].as_slice(), &words].concat()).start()
}

/// Checks weights and flows of `service` with web1 and web2 behind it, through a drain and back.
#[track_caller]
fn check(test: &str, text: &str, (service, address): (&str, &str), port: u16) {
    if !tools(test) {
        return;
    }
    if service == "haproxy" && Program::foreign("haproxy").is_none() {
        return skip(test, "`haproxy` is not installed");
    }
    let Some(place) = Place::new(test, text) else { return };
    place.up();
    let weights = |servers: &[Value; 2]| servers.each_ref().map(|server| server["weight"].as_u64());
    let both = pool(&place, &[service]);
    assert_eq!(weights(&both), [Some(1), Some(1)], "{both:?}");
    assert_eq!(both[0]["alive"], true, "{both:?}");
    let before = requests(&place, port);
    let run = load(&place, address, "10s");
    let busy = poll_until(PATIENCE, || {
        let now = requests(&place, port);
        now.iter().zip(&before).all(|(now, before)| now > &(before + 100)).then_some(())
    });
    assert!(busy.is_some(), "both servers work: {}", run.stderr());
    let drained = pool(&place, &["web1", "drain"]);
    assert_eq!(weights(&drained), [Some(0), Some(1)], "{drained:?}");
    let flows =
        drained.each_ref().map(|server| server["flows"].as_u64().unwrap_or_else(|| panic!("{drained:?}")));
    assert!(flows.iter().all(|count| *count > 0) && flows.iter().sum::<u64>() >= LIVE, "{drained:?}");
    let live = requests(&place, port);
    // New connections go to the other server, and open ones stay.
    answered(&place, address, 20);
    let outcome = run.wait(Duration::from_mins(1));
    let (result, after) = (outcome.expect_exit(0).json(), requests(&place, port));
    assert_eq!(result["requests"]["failed"], 0, "{outcome}");
    assert_eq!(result["connections"]["lost"], 0, "{outcome}");
    assert!(after[0] > live[0] + 100, "open connections stay where they were: {live:?}, {after:?}");
    answered(&place, address, 20);
    let later = requests(&place, port);
    assert!(later[0] <= after[0] + 2 && later[1] >= after[1] + 20, "{after:?}, {later:?}");
    let three = pool(&place, &[service, "web[1-2]", "weight", "3"]);
    assert_eq!(weights(&three), [Some(3), Some(3)]);
    let ready = pool(&place, &["web1:ONE".replace("ONE", &port.to_string()).as_str(), "ready"]);
    assert_eq!(weights(&ready), [Some(1), Some(3)]);
    pool(&place, &["web2", "ready"]);
    let back = requests(&place, port);
    answered(&place, address, 30);
    let now = requests(&place, port);
    assert!(now.iter().zip(&back).all(|(now, back)| now > &(back + 3)), "both answer: {back:?}, {now:?}");
    refusals(&place, service);
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

fn refusals(place: &Place, service: &str) {
    let cases: [(&[&str], &str); 4] = [
        (&["pool", "lb1", "web9", "drain"], "lab_pool_words"),
        (&["pool", "lb1", service, "web1", "weight", "999"], "lab_pool_words"),
        (&["pool", "web1"], "lab_pool_words"),
        (&["pool", "lb9"], "lab_host"),
    ];
    for (words, code) in cases {
        let reported = place.lab(words).run();
        assert!(reported.expect_exit(2).stderr.contains(&format!("[{code}]")), "{reported}");
    }
    // A stopped balancer is not changed, and the error says so.
    place.lab(&["fault", "lb1", "stop"]).run().expect_exit(0);
    let reported = place.lab(&["pool", "lb1", "web1", "drain"]).run();
    assert!(reported.expect_exit(5).stderr.contains("[lab_pool_failed]"), "{reported}");
    place.lab(&["fault", "lb1", "undo", "1"]).run().expect_exit(0);
}

#[test]
fn a_pool_of_direct_routing_changes_while_connections_live() {
    check("pool-direct", DIRECT, ("direct_routing", "10.92.0.100"), 80);
}

#[test]
fn a_pool_of_nat_changes_while_connections_live() {
    if wavetank_testkit::is_left_to_long_form("a_pool_of_nat_changes_while_connections_live") {
        return;
    }
    // HTTP checks would be counted together with the load's requests.
    let text = NAT.replace("MASQUERADE", "false").replace(", http: /", "");
    check("pool-nat", &text, ("nat", "lb1"), 8080);
}

#[test]
fn a_pool_of_haproxy_changes_while_connections_live() {
    check("pool-haproxy", HAPROXY, ("haproxy", "lb1"), 8080);
}

#[test]
fn an_event_drains_a_server_and_takes_it_back() {
    if !tools("an_event_drains_a_server_and_takes_it_back") {
        return;
    }
    let Some(place) = Place::new("pool-event", DIRECT) else { return };
    place.up();
    let experiment = "wavetank: 1\nname: eventful\ntarget: http://10.92.0.100\nsteps: [{get: /}]\n\
                      phases:\n  - {name: main, rate: 100/s, for: 4s}\n\
                      events:\n  - {when: 1s, host: lb1, run: pool web1 drain, for: 1s}\n  \
                      - {when: 1500ms, host: lb1, run: pool web1 weight 3}\n  \
                      - {when: 3s, host: lb1, run: \"pool direct_routing web[1-2] weight 7\"}\n";
    place.file("load.yaml", experiment);
    let run = place.lab(&["run", "lab.yaml", "load.yaml", "--format", "json", "--quiet"]).run();
    let record = run.expect_exit(0).json();
    assert_eq!(record["requests"]["failed"], 0, "{run}");
    let impacts = record["impacts"].as_array().unwrap_or_else(|| panic!("no impacts: {run}"));
    let reported: Vec<(&str, &str)> = impacts
        .iter()
        .map(|one| (one["what"].as_str().unwrap_or_default(), one["outcome"].as_str().unwrap_or_default()))
        .collect();
    let expected = [
        ("pool web1 drain", "undone"),
        ("pool web1 weight 3", "undone"),
        ("pool direct_routing web[1-2] weight 7", "undone"),
    ];
    assert_eq!(reported, expected, "{record}");
    let log = place.lab(&["logs", "lb1", "direct_routing"]).run();
    for word in [
        "web1:80 weighs 0",
        "web1:80 weighs 3",
        "web1:80 weighs 7",
        "web1:80 weighs 1",
        "web2:80 weighs 7",
        "web2:80 weighs 1",
    ] {
        assert!(log.expect_exit(0).stdout.contains(word), "`{word}`: {log}");
    }
    let both = pool(&place, &[]);
    assert!(both.iter().all(|server| server["weight"] == 1), "as before: {both:?}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_a_director_does_not_take_is_taken_back() {
    let test = "what_a_director_does_not_take_is_taken_back";
    if !tools(test) {
        return;
    }
    let Some(place) = Place::new("pool-stuck", DIRECT) else { return };
    place.up();
    place.lab(&["fault", "lb1", "pause"]).run().expect_exit(0);
    let reported = place.lab(&["pool", "lb1", "web[1-2]", "drain"]).run();
    assert!(reported.expect_exit(5).stderr.contains("[lab_pool_failed]"), "{reported}");
    place.lab(&["fault", "lb1", "undo", "1"]).run().expect_exit(0);
    // Once this command is accepted, all earlier messages have been read.
    let both = pool(&place, &["web2", "weight", "2"]);
    assert_eq!(both.each_ref().map(|server| server["weight"].as_u64()), [Some(1), Some(2)], "{both:?}");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

#[test]
fn what_haproxy_does_not_take_is_taken_back() {
    let test = "what_haproxy_does_not_take_is_taken_back";
    if Program::foreign("haproxy").is_none() {
        return skip(test, "`haproxy` is not installed");
    }
    // When it balances by address, HAProxy supports only the full weight and zero.
    let text = HAPROXY.replace("mode: tcp,", "mode: tcp, balance: source,");
    let Some(place) = Place::new("pool-refused", &text) else { return };
    place.up();
    let weights = |words: &[&str]| pool(&place, words).map(|server| server["weight"].as_u64());
    assert_eq!(weights(&["web1", "drain"]), [Some(0), Some(1)]);
    let reported = place.lab(&["pool", "lb1", "web[1-2]", "weight", "3"]).run();
    assert!(reported.expect_exit(5).stderr.contains("[lab_pool_failed]"), "{reported}");
    assert_eq!(weights(&[]), [Some(0), Some(1)], "nothing has changed");
    place.lab(&["down"]).run().expect_exit(0);
    place.nothing_left("down");
}

/// The count of servers behind direct routing is compared with the run's only if it includes no
/// checks.
#[test]
fn checks_of_a_balancer_make_no_difference() {
    let test = "checks_of_a_balancer_make_no_difference";
    if !tools(test) {
        return;
    }
    if Program::foreign("nginx").is_none() {
        return skip(test, "`nginx` is not installed");
    }
    let check = |name: &str, check: &str, compared: bool| {
        let text = DIRECT.replace(CHECK, check);
        let text = text.replace("- serve: {listen: 80}", "- nginx: {listen: 80}");
        let Some(place) = Place::new(name, &text) else { return };
        let run = place
            .lab(&[
                "run",
                "lab.yaml",
                "http://10.92.0.100",
                "-r",
                "50/s",
                "-d",
                "2s",
                // All connections are open before the load, and no more are opened during it. None
                // is therefore opening at the end, and both servers have some.
                "-c",
                "32",
                "--format",
                "json",
                "--quiet",
            ])
            .run();
        let record = run.json();
        let servers = record["servers"].as_array().unwrap_or_else(|| panic!("no servers: {run}"));
        let with: Vec<&Value> = servers.iter().filter(|one| one["run_connections"].is_u64()).collect();
        assert_eq!(with.len(), usize::from(compared), "{run}");
        assert!(with.iter().all(|one| one["run_connections"] == one["connections"]), "{run}");
        assert!(servers.iter().all(|one| one["connections"].as_u64() > Some(0)), "{run}");
        place.nothing_left("the run");
    };
    assert!(DIRECT.contains(CHECK));
    check("pool-checked", CHECK, false);
    check("pool-unchecked", "check: false", true);
}
