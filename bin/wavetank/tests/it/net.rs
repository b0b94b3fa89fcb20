//! `wavetank net` between two processes on the loopback.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{Outcome, Program, Running, Signal};

const TOKEN: &str = "0123456789abcdef0123";

fn net(words: &[&str]) -> Program {
    Program::new(env!("CARGO_BIN_EXE_wavetank")).args(["net"]).args(words)
}

/// Starts a server on the loopback. Returns it with its address and its token.
fn serve(words: &[&str], token: Option<&str>) -> (Running, String, String) {
    let program = net(&["serve", "--listen", "127.0.0.1:0"]).args(words);
    let program = token.into_iter().fold(program, |one, token| one.environment("WAVETANK_NET_TOKEN", token));
    let server = program.start();
    let ready = poll_until(Duration::from_mins(1), || {
        let stdout = server.stdout();
        let mut lines = stdout.lines();
        let address = lines.next()?.split(' ').nth(1)?.to_owned();
        Some((address, lines.next()?.strip_prefix("token ")?.to_owned()))
    });
    let (address, token) = ready.expect("the server prints its address and its token");
    (server, address, token)
}

/// Measures `host` in a folder of its own with this token.
fn measure(folder: &tempfile::TempDir, host: &str, token: &str, words: &[&str]) -> Outcome {
    let program = net(&[host, "--duration", "100ms", "--quiet"]).args(words).in_folder(folder.path());
    program.environment("WAVETANK_NET_TOKEN", token).run()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("temporary folders can be made")
}

#[test]
fn everything_is_measured_stored_reported_and_compared() {
    let (server, address, token) = serve(&[], None);
    assert_eq!(token.len(), 32, "{token}");
    let folder = folder();
    let first =
        measure(&folder, &address, &token, &["--format", "json", "--out", "net.html", "--streams", "1,2"]);
    let doc = first.expect_exit(0).json();
    assert_eq!(doc["schema"], "wavetank.net/1");
    assert!(!first.stdout.contains(&token), "the token is in the result");
    let pair = &doc["pairs"][0];
    assert_eq!(pair["failures"], Value::Array(Vec::new()), "{pair}");
    assert_eq!(pair["tcp"].as_array().map(Vec::len), Some(8), "{pair}");
    for test in ["rr", "connect", "sizes", "mtu"] {
        assert!(pair[test].is_object(), "{test}: {pair}");
    }
    assert_eq!(pair["udp"].as_array().map(Vec::len), Some(4), "{pair}");
    let page = std::fs::read_to_string(folder.path().join("net.html")).expect("the page was written");
    assert!(page.contains("Throughput by size of message") && page.contains("<svg"), "{page}");

    let id = doc["id"].as_str().expect("an id");
    let wavetank = |words: &[&str]| {
        Program::new(env!("CARGO_BIN_EXE_wavetank"))
            .args(words.iter().copied())
            .in_folder(folder.path())
            .run()
    };
    let again = wavetank(&["report", id]);
    for line in ["pair ", "tcp ", "round trip ", "connect ", "sizes ", "udp ", "mtu "] {
        assert!(again.expect_exit(0).stdout.lines().any(|one| one.starts_with(line)), "{line}: {again}");
    }
    assert_eq!(wavetank(&["report", id, "--format", "json"]).stdout, first.stdout);
    wavetank(&["report", id, "--format", "csv"]).expect_exit(2);
    let listed = wavetank(&["runs", "list", "--format", "json"]).expect_exit(0).json();
    assert_eq!(listed["beside"][0]["kind"], "net", "{listed}");

    let second = measure(&folder, &address, &token, &["--format", "json", "--tests", "rr"]).json();
    let other = second["id"].as_str().expect("an id");
    let compared = wavetank(&["compare", id, other, "--format", "json"]).expect_exit(0).json();
    let names: Vec<&str> = compared["metrics"]
        .as_array()
        .expect("metrics")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.len() == 2 && names[0].starts_with("round_trip_p50("), "{names:?}");
    assert!(compared["warnings"][0].as_str().is_some_and(|text| text.contains("differ in tests")));
    let code = wavetank(&["compare", id, id, "--format", "json"]).expect_exit(2).json();
    assert_eq!(code["code"], "same_run");

    server.signal(Signal::INT);
    let ended = server.wait(Duration::from_mins(1));
    assert!(ended.expect_exit(0).stderr.contains("127.0.0.1 connected"), "{ended}");
}

/// Measures and returns the code of the error.
#[track_caller]
fn check_error(host: &str, token: &str, words: &[&str], exit: i32, code: &str) {
    let folder = folder();
    let words = [&["--format", "json"], words].concat();
    let error = measure(&folder, host, token, &words).expect_exit(exit).json();
    assert_eq!(error["code"], code, "{error}");
    assert!(!error["hint"].as_str().unwrap_or_default().is_empty(), "{error}");
}

#[test]
fn mistakes_and_unreachable_servers_are_errors() {
    let (_server, address, _) = serve(&["--for", "5m"], Some(TOKEN));
    check_error(&address, "another-token-of-20-", &[], 5, "net_token");
    check_error(&address, "short", &[], 2, "bad_token");
    let closed = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = closed.local_addr().expect("it is bound").to_string();
    drop(closed);
    check_error(&port, TOKEN, &[], 5, "net_refused");
    check_error("127.0.0.1:x", TOKEN, &[], 2, "bad_net_host");
    check_error("no-such-host.invalid", TOKEN, &[], 5, "net_name_unknown");
    check_error(&address, TOKEN, &["--tests", "tcp,icmp"], 2, "value_unknown");
    check_error(&address, TOKEN, &["--streams", "0"], 2, "value_unknown");
    check_error(&address, TOKEN, &["--serial", "--streams", "1"], 2, "conflict");
    let without = net(&[&address, "--format", "json"]).run();
    assert_eq!(without.expect_exit(2).json()["code"], "net_no_token");
}

#[test]
fn a_server_that_is_killed_in_the_middle_leaves_what_was_measured() {
    let (server, address, token) = serve(&[], None);
    let folder = folder();
    let program = net(&[&address, "--duration", "1s", "--tests", "rr,connect,sizes", "--format", "json"]);
    let client = program.in_folder(folder.path()).environment("WAVETANK_NET_TOKEN", &token).start();
    let connected =
        poll_until(Duration::from_mins(1), || server.stderr().contains("connected").then_some(()));
    assert!(connected.is_some(), "the client connects");
    server.signal(Signal::KILL);
    let doc = client.wait(Duration::from_mins(1)).expect_exit(4).json();
    let failures = doc["pairs"][0]["failures"].as_array().expect("failures").clone();
    assert!(!failures.is_empty(), "{doc}");
    let is_known = |one: &Value| {
        matches!(one["code"].as_str(), Some("net_peer_gone" | "net_test_failed" | "net_refused"))
    };
    assert!(failures.iter().all(is_known), "{failures:?}");
}

#[test]
fn an_interrupt_ends_a_long_measurement() {
    let (server, address, token) = serve(&[], None);
    let folder = folder();
    let client = net(&[&address, "--duration", "10m", "--tests", "rr", "--format", "json"]);
    let client = client.in_folder(folder.path()).environment("WAVETANK_NET_TOKEN", &token).start();
    let started = poll_until(Duration::from_mins(1), || server.stderr().contains("connected").then_some(()));
    assert!(started.is_some(), "the client connects");
    client.signal(Signal::INT);
    let ended = client.wait(Duration::from_mins(1));
    let doc = ended.expect_exit(130).json();
    assert!(
        doc["pairs"][0]["rr"].is_null() && doc["pairs"][0]["failures"] == Value::Array(Vec::new()),
        "{doc}"
    );
}

#[test]
fn a_server_ends_after_its_time() {
    let (server, ..) = serve(&["--for", "100ms"], Some(TOKEN));
    let ended = server.wait(Duration::from_mins(1));
    assert!(ended.expect_exit(0).stderr.contains("its time is over"), "{ended}");
}

#[test]
fn hosts_of_a_fleet_are_measured_over_ssh() {
    crate::fleet_hosts::with_hosts("hosts_of_a_fleet_are_measured_over_ssh", 2, |hosts| {
        // The addresses are what ssh connects to, and what the hosts reach each other at.
        let file = "wavetank_fleet: 1\nload:\n  load1: {address: 127.0.0.1}\n  load2: {address: 127.0.0.2}\n";
        hosts.place.write("fleet.yaml", file);
        let config = std::fs::read_to_string(hosts.place.file("config")).expect("it was written");
        hosts.place.write("config", config + "Host 127.0.0.1\n  Port 2201\nHost 127.0.0.2\n  Port 2202\n");
        let fleet = ["net", "--fleet", "fleet.yaml", "--ssh-config", "config", "--duration", "100ms"];
        let tests = ["--tests", "tcp,rr", "--streams", "1", "--format", "json"];
        let doc = hosts.program().args(fleet).args(tests).run().expect_exit(0).json();
        let pair = &doc["pairs"][0];
        assert_eq!((&pair["from"], &pair["to"]), (&"load1".into(), &"load2".into()), "{doc}");
        assert_eq!(pair["tcp"].as_array().map(Vec::len), Some(4), "{doc}");
        assert!(pair["rr"].is_object() && doc["name"] == "fleet", "{doc}");

        std::fs::remove_file(hosts.folder(1).join("wavetank")).expect("it was linked");
        let failed = hosts.program().args(fleet).args(tests).run();
        let failure = &failed.expect_exit(4).json()["pairs"][0]["failures"][0];
        assert!(
            failure["message"].as_str().is_some_and(|text| text.contains("use wavetank fleet up")),
            "{failed}"
        );
    });
}
