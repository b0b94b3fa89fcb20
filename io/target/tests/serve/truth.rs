//! The server's own count.

use std::thread;

use crate::client::{Client, get, serve};
use serde_json::Value;
use wavetank_target::ServeOptions;

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
