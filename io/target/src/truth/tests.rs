use std::sync::Arc;

use wavetank_driver::Errno;
use wavetank_units::Nanos;

use super::*;
use crate::paths::PathCache;

/// Threads' counts, each with the paths that have a counter in it.
fn truth(all: &[&Counts]) -> Truth {
    let seen: Vec<_> = all.iter().map(|counts| counts.snapshot(counts.epoch())).collect();
    Truth::from_counts(&seen, u32::try_from(all.len()).expect("a few"), &Gauge::default())
}

fn none() -> Counts {
    Counts::new(Arc::default())
}

fn connected(accepted: u64, open: u64) -> Counts {
    let counts = none();
    counts.accepted.add(accepted);
    (0..open).for_each(|_| counts.opened());
    counts
}

fn ask(counts: &Counts, paths: &mut PathCache, path: &str, times: u64) {
    for _ in 0..times {
        let (_, slot) = paths.find(path.as_bytes(), counts);
        counts.request(slot.expect("no control request"), Nanos(5), Nanos(5));
        counts.answered(200);
    }
}

#[test]
fn threads_add_up() {
    let (one, other) = (connected(3, 2), connected(4, 1));
    let (mut of_one, mut of_other) =
        (PathCache::new(true, Arc::default()), PathCache::new(true, Arc::default()));
    one.bytes_received.add(10);
    other.bytes_sent.add(7);
    other.not_accepted(Errno(24));
    assert_eq!((one.accept_failure(), other.accept_failure()), (None, Some(Errno(24))));
    ask(&one, &mut of_one, "/", 5);
    ask(&other, &mut of_other, "/", 6);
    ask(&other, &mut of_other, "/x", 1);
    other.answered(404);
    let truth = truth(&[&one, &other]);
    assert_eq!((truth.requests, truth.answers, truth.threads), (12, 13, 2));
    let accepted = ConnectionCounts { accepted: 7, open: 3, accept_failed: 1, ..ConnectionCounts::default() };
    assert_eq!(truth.connections, ConnectionCounts { peak: 3, ..accepted });
    assert_eq!(truth.paths, BTreeMap::from([("/".to_owned(), 11), ("/x".to_owned(), 1)]));
    assert_eq!(truth.statuses, BTreeMap::from([(200, 12), (404, 1)]));
    assert_eq!(truth.bytes, ByteCounts { received: 10, sent: 7 });
}

#[test]
fn paths_are_bounded_and_none_is_lost() {
    let (one, mut of_one) = (none(), PathCache::new(true, Arc::default()));
    for at in 0..300 {
        ask(&one, &mut of_one, &format!("/{at}"), 1);
    }
    ask(&one, &mut of_one, &"/long".repeat(100), 2);
    let (other, mut of_other) = (none(), PathCache::new(true, Arc::default()));
    for at in 200..400 {
        ask(&other, &mut of_other, &format!("/{at}"), 3);
    }
    let truth = truth(&[&one, &other]);
    assert_eq!(truth.paths.len(), PATHS_MAX + 1);
    assert_eq!(truth.paths.values().sum::<u64>(), truth.requests);
    assert_eq!(truth.paths["/399"], 3, "the most asked for are kept");
}

#[test]
fn a_reset_keeps_what_is_open() {
    let (counts, mut paths) = (connected(3, 2), PathCache::new(true, Arc::default()));
    for at in 0..300 {
        ask(&counts, &mut paths, &format!("/{at}"), 1);
    }
    let epoch = counts.epoch() + 1;
    let connections = ConnectionCounts { open: 2, peak: 2, ..ConnectionCounts::default() };
    let expected = Truth { connections, ..truth(&[&none()]) };
    // Before the thread has followed the reset, and after.
    assert_eq!(Truth::from_counts(&[counts.snapshot(epoch)], 1, &Gauge::default()), expected);
    counts.follow(epoch);
    assert_eq!(truth(&[&counts]), expected);
    // There is room for all paths again, and an earlier path gets a new counter.
    ask(&counts, &mut paths, "/299", 2);
    assert_eq!(truth(&[&counts]).paths, BTreeMap::from([("/299".to_owned(), 2)]));
    assert_eq!(truth(&[&counts]).arrivals.per_second, [2]);
}

#[test]
fn json_is_as_documented() {
    let (counts, mut paths) = (connected(1, 1), PathCache::new(true, Arc::default()));
    ask(&counts, &mut paths, "/", 1);
    let json = String::from_utf8(truth(&[&counts]).to_json()).expect("JSON is UTF-8");
    let expected = concat!(
        r#"{"schema":"wavetank.truth/1","requests":1,"answers":1,"bad_requests":0,"#,
        r#""connections":{"accepted":1,"open":1,"control":0,"accept_failed":0,"closed_by_peer":0,"reset":0,"#,
        r#""closed_by_us":0,"peak":1,"lowest":0},"#,
        r#""handshakes":{"full":0,"resumed":0,"failed":0},"bytes":{"received":0,"sent":0},"#,
        r#""messages":{"received":0,"sent":0},"paths":{"/":1},"statuses":{"200":1},"#,
        r#""arrivals":{"per_second":[1],"later":0,"span_s":0.0,"gaps_us":{"count":0,"complete":true,"min":0.0,"#,
        r#""mean":0.0,"p50":0.0,"p90":0.0,"p99":0.0,"p99_9":0.0,"max":0.0}},"threads":1}"#,
        "\n"
    );
    assert_eq!(json, expected);
}

#[test]
fn ends_of_a_connection_are_distinguished() {
    let counts = connected(9, 9);
    for (how, times) in [(CloseKind::Finished, 1), (CloseKind::Broken, 2), (CloseKind::Closed, 3)] {
        (0..times).for_each(|_| counts.closed(how));
    }
    let seen = counts.connections_in(counts.epoch());
    assert_eq!((seen.closed_by_peer, seen.reset, seen.closed_by_us, seen.open), (1, 2, 3, 3));
    counts.answered(200);
    counts.answered(404);
    let standing = ConnectionSnapshot::new(&seen, counts.answers_in(counts.epoch()), 5, 7);
    assert_eq!(counts.answers_in(counts.epoch() + 1), 0, "answers of another epoch do not count");
    assert_eq!((standing.closed, standing.reset, standing.open, standing.accepted), (6, 2, 3, 9));
    let json = String::from_utf8(standing.to_json()).expect("JSON is UTF-8");
    let expected = concat!(
        r#"{"schema":"wavetank.truth_connections/1","open":3,"accepted":9,"closed":6,"reset":2,"peak":0,"answers":2,"#,
        r#""monotonic_ns":5,"unix_ns":7}"#,
        "\n"
    );
    assert_eq!(json, expected);
    // Those of a process that is gone went with it.
    counts.all_closed();
    let seen = counts.connections_in(counts.epoch());
    assert_eq!((seen.closed_by_us, seen.open), (6, 0));
}
