//! The server's own count.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::serve::client::{Client, engines, get, serve};
use serde_json::Value;
use wavetank_driver::{Clock, WallClock};
use wavetank_target::ServeOptions;
use wavetank_units::Nanos;

#[test]
fn counts_what_came_over_all_threads() {
    let (server, at) = serve(ServeOptions { threads: Some(3), ..ServeOptions::default() });
    let clients: Vec<_> = (0..12)
        .map(|_| {
            thread::spawn(move || {
                let mut client = Client::connect(at);
                for round in 0..50 {
                    let path = if round % 5 == 0 { "/status/404" } else { "/?round" };
                    client.get(path);
                }
                client.send(get("/").repeat(30));
                for _ in 0..30 {
                    client.answer();
                }
                client
            })
        })
        .collect();
    let clients: Vec<_> = clients.into_iter().map(|client| client.join().expect("it asks")).collect();
    let truth = server.truth();
    assert_eq!((truth.requests, truth.answers, truth.bad_requests, truth.threads), (960, 960, 0, 3));
    assert_eq!((truth.paths["/"], truth.paths["/status/404"], truth.paths.len()), (840, 120, 2));
    assert_eq!((truth.statuses[&200], truth.statuses[&404], truth.statuses.len()), (840, 120, 2));
    assert_eq!((truth.connections.accepted, truth.connections.open), (12, 12));
    assert_eq!(truth.arrivals.per_second.iter().sum::<u64>(), 960);
    let gaps = &truth.arrivals.gaps_us;
    assert_eq!((gaps.count, gaps.complete), (959, true));
    assert!(gaps.min <= gaps.p50 && gaps.p50 <= gaps.p99 && gaps.p99 <= gaps.max, "{gaps:?}");
    assert!((gaps.mean * 959.0 - truth.arrivals.span_s * 1e6).abs() < 1.0, "{truth:?}");
    drop(clients);
}

#[test]
fn asking_for_the_truth_does_not_change_it() {
    let (server, at) = serve(ServeOptions { threads: Some(2), ..ServeOptions::default() });
    let mut load = Client::connect(at);
    assert_eq!(load.get("/").status, 200);
    let mut watcher = Client::connect(at);
    let ask = |watcher: &mut Client| -> Value {
        let answer = watcher.get("/truth?pretty=no");
        assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
        serde_json::from_slice(&answer.body).expect("JSON")
    };
    let first = ask(&mut watcher);
    assert_eq!(first["schema"], "wavetank.truth/1");
    assert_eq!((&first["requests"], &first["connections"]["accepted"]), (&1.into(), &1.into()));
    assert_eq!(first["connections"]["control"], 1);
    for _ in 0..5 {
        let mut again = ask(&mut watcher);
        // Only bytes are counted on every connection.
        again["bytes"] = first["bytes"].clone();
        assert_eq!(again, first);
    }
    watcher.send("POST /truth/reset HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(watcher.answer().status, 204);
    let reset = ask(&mut watcher);
    assert_eq!((&reset["requests"], &reset["connections"]["open"]), (&0.into(), &1.into()));
    assert_eq!(reset["paths"].as_object().map(serde_json::Map::len), Some(0));
    // Requests count on after it, on old connections as on new ones.
    assert_eq!(load.get("/bytes/9").status, 200);
    let truth = server.truth();
    assert_eq!((truth.requests, truth.paths.get("/bytes/9")), (1, Some(&1)));
}

#[test]
fn many_paths_are_counted_without_end_to_memory() {
    let (server, at) = serve(ServeOptions { threads: Some(1), any: true, ..ServeOptions::default() });
    let mut client = Client::connect(at);
    for batch in 0..30 {
        client.send((0..100).map(|at| get(&format!("/item/{batch}-{at}"))).collect::<String>());
        for _ in 0..100 {
            assert_eq!(client.answer().status, 200);
        }
    }
    let truth = server.truth();
    assert_eq!((truth.paths.len(), truth.paths["other"]), (257, 3_000 - 256));
}

/// What `/truth/connections` says, on a connection that asks for nothing else.
fn standing(watcher: &mut Client) -> BTreeMap<String, Value> {
    let answer = watcher.get("/truth/connections");
    assert_eq!((answer.status, answer.field("content-type")), (200, Some("application/json")));
    let reported: BTreeMap<String, Value> = serde_json::from_slice(&answer.body).expect("JSON");
    assert_eq!(reported["schema"], "wavetank.truth_connections/1");
    reported
}

/// Wait until it says so of open, accepted, closed, reset and the peak.
fn until_standing(watcher: &mut Client, wanted: [u64; 5]) {
    let clock = Clock::starting_now();
    loop {
        let reported = standing(watcher);
        let now = ["open", "accepted", "closed", "reset", "peak"]
            .map(|key| reported[key].as_u64().expect("a count"));
        if now == wanted {
            return;
        }
        assert!(clock.now() < Nanos::from_secs(60), "{now:?} instead of {wanted:?}");
    }
}

#[test]
fn connections_are_reported_for_an_instant() {
    for engine in engines() {
        let options = ServeOptions { threads: Some(3), engine, ..ServeOptions::default() };
        let (server, at) = serve(options);
        let mut clients: Vec<_> = (0..20).map(|_| Client::connect(at)).collect();
        let mut watcher = Client::connect(at);
        until_standing(&mut watcher, [20, 20, 0, 0, 20]);
        // Instants of one clock that go forward, and of the other that is near ours.
        let [first, second] = [(); 2].map(|()| standing(&mut watcher)["monotonic_ns"].as_i64().expect("ns"));
        assert!(first < second, "{first} {second}");
        let reported = standing(&mut watcher)["unix_ns"].as_i64().expect("ns");
        let apart_s = (WallClock::unix_ns() - reported) / 1_000_000_000;
        assert!((-60..60).contains(&apart_s), "{apart_s} s");
        // By FIN, by reset, and by the server.
        clients.truncate(15);
        for client in clients.drain(10..) {
            rustix::net::sockopt::set_socket_linger(&client.stream, Some(Duration::ZERO)).expect("a socket");
        }
        assert_eq!(clients[0].get("/close").status, 200);
        until_standing(&mut watcher, [9, 20, 11, 5, 20]);
        let connections = server.truth().connections;
        assert_eq!((connections.closed_by_peer, connections.closed_by_us), (5, 1), "{connections:?}");
        assert_eq!((connections.peak, connections.lowest, connections.control), (20, 0, 1));
        // After a reset, the open connections are the maximum and the minimum. The watching
        // connection is in neither.
        server.reset_truth();
        until_standing(&mut Client::connect(at), [9, 0, 0, 0, 9]);
        assert_eq!(server.truth().connections.lowest, 9);
        drop(clients);
        until_standing(&mut Client::connect(at), [0, 0, 9, 0, 9]);
    }
}
