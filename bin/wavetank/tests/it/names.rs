//! `dns: DURATION` and `dns: each_session`: a name that moves during the load, in the test's own
//! hosts file.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use wavetank_testkit::netns::NetNs;
use wavetank_testkit::{Outcome, RunHarness, Script, Target, Truth, free_port};

/// Runs `web.test` at 50 requests per second, each on its own connection. After the first request
/// at its first server, the hosts file becomes `next`. Returns the outcome and the counts of the
/// servers at 127.0.0.2 and 127.0.0.3.
fn moving(test: &str, words: &str, next: &str) -> Option<(Outcome, [Truth; 2])> {
    if !NetNs::available(test) {
        return None;
    }
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let port = free_port();
    let servers = [2, 3].map(|last| {
        let at = SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), port));
        Target::start_at(at, Script::constant(Duration::from_millis(1)))
    });
    let hosts = trial.place().write("hosts", "127.0.0.2 web.test\n");
    let file = format!(
        "wavetank: 1\ntarget: http://web.test:{port}\nhttp: {{dns: 1s}}\nprobe: false\nscenarios:\n  s:\n    \
         connection: request\n    steps: [{{get: /}}]\n    phases: [{{rate: 50/s, for: 5s}}]\n"
    );
    trial.place().write("x.yaml", file);
    let words = words.replace("PORT", &port.to_string());
    let script = format!("mount --bind {hosts} /etc/hosts; exec \"$0\" run {words} --format json");
    let running =
        NetNs::mounts(&trial.program().arguments()[0], &script).in_folder(trial.place().path()).start();
    servers[0].wait_for("the first server is asked", Duration::from_mins(1), |truth| truth.requests > 0);
    // Written in place, since this very file is mounted.
    std::fs::write(&hosts, next).expect("the test's own file");
    let outcome = running.wait(Duration::from_mins(1));
    Some((outcome, servers.map(|server| server.settled())))
}

/// The name moves to the second server. From some instant on all connections go there.
#[track_caller]
fn check_moves(test: &str, words: &str) {
    let Some((outcome, [first, second])) = moving(test, words, "127.0.0.3 web.test\n") else { return };
    let json = outcome.json();
    assert_eq!(json["requests"]["failed"], 0, "{outcome}");
    assert!(
        first.requests > 0 && second.requests > 0,
        "{} and {}: {outcome}",
        first.requests,
        second.requests
    );
    assert_eq!(json["wire"]["sent"], first.requests + second.requests, "{outcome}");
    let moves: Vec<_> = json["events"].as_array().expect("events").iter().collect();
    let moves: Vec<_> = moves.iter().filter(|event| event["kind"] == "names_moved").collect();
    assert_eq!(moves.len(), 1, "{outcome}");
    let text = moves[0]["text"].as_str().expect("a text");
    assert!(text.contains("moved from 127.0.0.2:") && text.contains(" to 127.0.0.3:"), "{text}");
    assert!(json["notes"].to_string().contains("moved from 127.0.0.2:"), "{outcome}");
}

#[test]
fn connections_follow_a_name_that_moves() {
    check_moves("connections_follow_a_name_that_moves", "x.yaml");
}

#[test]
fn so_they_do_without_a_file() {
    let words = "http://web.test:PORT/ --dns each_session --no-probe -r 50/s -d 5s --no-keepalive";
    check_moves("so_they_do_without_a_file", words);
}

#[test]
fn looked_up_once_a_name_stays() {
    let words = "http://web.test:PORT/ --dns once --no-probe -r 50/s -d 2s --no-keepalive";
    let outcome = moving("looked_up_once_a_name_stays", words, "127.0.0.3 web.test\n");
    let Some((outcome, [first, second])) = outcome else { return };
    assert_eq!((first.requests, second.requests), (100, 0), "{outcome}");
}

/// The name changes to something unusable. The load continues to the earlier address, and a message
/// says so.
#[track_caller]
fn check_stays(test: &str, next: &str, kind: &str, reported: &str) {
    let Some((outcome, [first, second])) = moving(test, "x.yaml", next) else { return };
    let json = outcome.json();
    assert_eq!((first.requests, second.requests), (250, 0), "{outcome}");
    let events = json["events"].as_array().expect("events");
    let texts: Vec<_> =
        events.iter().filter(|one| one["kind"] == kind).map(|one| one["text"].to_string()).collect();
    assert!(texts.concat().contains(reported), "{reported}: {outcome}");
    assert!(outcome.stderr.contains("warning: "), "{outcome}");
}

#[test]
fn a_forbidden_target_receives_nothing() {
    let test = "a_forbidden_target_receives_nothing";
    check_stays(test, "192.0.2.1 web.test\n", "names_refused", "not used: web.test (192.0.2.1)");
}

#[test]
fn a_name_that_is_gone_stays_where_it_was() {
    // A resolver in the network does not know the name either (RFC 6761, 6.2).
    let test = "a_name_that_is_gone_stays_where_it_was";
    check_stays(
        test,
        "127.0.0.1 localhost\n",
        "names_failed",
        "connections continue to the previous addresses of `web.test`",
    );
}

/// Runs `words` on `pair.test`, which has the addresses 127.0.0.2 and 127.0.0.3; only the second
/// has a server. `PORT` in `words` is its port. Returns the outcome and the server's counts.
fn half_dead(test: &str, words: &str) -> Option<(Outcome, Truth)> {
    if !NetNs::available(test) {
        return None;
    }
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let port = free_port();
    let at = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 3), port));
    let server = Target::start_at(at, Script::constant(Duration::ZERO));
    let hosts = trial.place().write("hosts", "127.0.0.2 pair.test\n127.0.0.3 pair.test\n");
    let file = format!("wavetank: 1\ntarget: http://pair.test:{port}\nsteps: [{{get: /}}]\n");
    trial.place().write("x.yaml", file);
    let words = words.replace("PORT", &port.to_string());
    let script = format!("mount --bind {hosts} /etc/hosts; exec \"$0\" {words}");
    let program = NetNs::mounts(&trial.program().arguments()[0], &script).in_folder(trial.place().path());
    Some((program.run(), server.settled()))
}

#[test]
fn the_load_leaves_out_an_address_that_the_probe_cannot_reach() {
    let test = "the_load_leaves_out_an_address_that_the_probe_cannot_reach";
    for engine in ["epoll", "auto"] {
        let words = format!("run http://pair.test:PORT/ -n 40 -c 4 --engine {engine} --format json");
        let Some((outcome, truth)) = half_dead(test, &words) else { return };
        let json = outcome.json();
        assert_eq!((outcome.exit, &json["requests"]["done"]), (Some(0), &40.into()), "{outcome}");
        assert_eq!(truth.requests, 41, "with the probe: {outcome}");
        let notes = json["notes"].to_string();
        assert!(notes.contains("no load goes to 127.0.0.2:"), "{outcome}");
    }
}

#[test]
fn without_a_probe_failures_name_their_address() {
    let test = "without_a_probe_failures_name_their_address";
    for engine in ["epoll", "auto"] {
        let words =
            format!("run http://pair.test:PORT/ -n 40 -c 4 --no-probe --engine {engine} --format json");
        let Some((outcome, _)) = half_dead(test, &words) else { return };
        let json = outcome.json();
        assert!(json["errors"]["connect_refused"].as_u64() > Some(0), "{outcome}");
        let findings = json["findings"].to_string();
        assert!(findings.contains("no connection to 127.0.0.2:"), "{outcome}");
    }
}

#[test]
fn one_user_tries_the_next_address() {
    let test = "one_user_tries_the_next_address";
    for words in ["run http://pair.test:PORT/ --once", "try x.yaml"] {
        let Some((outcome, truth)) = half_dead(test, words) else { return };
        assert_eq!((outcome.exit, truth.requests), (Some(0), 1), "{outcome}");
    }
}

#[test]
fn localhost_is_where_a_server_listens() {
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    for (at, other) in [("::1", "127.0.0.1"), ("127.0.0.1", "::1")] {
        // No other test may listen on this port of the other address.
        let own = SocketAddr::new(at.parse().expect("a literal address"), free_port());
        if std::net::TcpListener::bind((own.ip(), 0)).is_err() {
            continue;
        }
        let server = Target::start_at(own, Script::constant(Duration::ZERO));
        for words in ["-n 20 -c 2 --no-probe", "-n 20 -c 2 --no-probe --engine epoll"] {
            server.reset();
            let url = format!("http://localhost.:{}/", own.port());
            let outcome = trial.load(&url, words.split(' ')).run();
            assert_eq!(outcome.exit, Some(0), "{other} does not listen: {outcome}");
            assert_eq!(server.settled().requests, 20, "{outcome}");
        }
    }
}

#[test]
fn an_address_has_a_zone() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let trial = RunHarness::new(env!("CARGO_BIN_EXE_wavetank"));
    let any = "[::1]:0".parse().expect("a literal address");
    let server = Target::start_at(any, Script::constant(Duration::ZERO));
    let port = server.address().port();
    for engine in ["epoll", "auto"] {
        let url = format!("http://[::1%25lo]:{port}/");
        let outcome = trial.load(&url, ["-n", "4", "-c", "1", "--no-probe", "--engine", engine]).run();
        assert_eq!(outcome.exit, Some(0), "{outcome}");
    }
    let to = format!("[::1%lo]:{port}");
    let outcome =
        trial.load("http://shop.test/", ["-n", "2", "-c", "1", "--no-probe", "--connect-to", &to]).run();
    assert_eq!((outcome.exit, server.settled().requests), (Some(0), 10), "{outcome}");
    let outcome = trial.load("http://[::1%25none]/", ["-n", "1"]).run();
    assert_eq!(outcome.exit, Some(2), "{outcome}");
    assert!(outcome.to_string().contains("zone that is no interface with IPv6"), "{outcome}");
}
