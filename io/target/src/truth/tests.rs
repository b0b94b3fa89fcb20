use wavetank_plan::Nanos;

use super::*;

fn connected(accepted: u64, open: i64) -> Counts {
    let mut counts = Counts::default();
    counts.accepted = accepted;
    counts.open = open;
    counts
}

fn ask(counts: &mut Counts, path: &str, times: u64) {
    for _ in 0..times {
        let slot = counts.slot(path.as_bytes());
        counts.request(slot, Nanos(5), Nanos(5));
        counts.answered(200);
    }
}

#[test]
fn threads_add_up() {
    let (mut one, mut other) = (connected(3, 2), connected(4, 1));
    one.bytes_received = 10;
    other.bytes_sent = 7;
    other.accept_failed = 1;
    ask(&mut one, "/", 5);
    ask(&mut other, "/", 6);
    ask(&mut other, "/x", 1);
    other.answered(404);
    let truth = Truth::of(&[one, other]);
    assert_eq!((truth.requests, truth.answers, truth.threads), (12, 13, 2));
    assert_eq!(truth.connections, ConnectionCounts { accepted: 7, open: 3, control: 0, accept_failed: 1 });
    assert_eq!(truth.paths, BTreeMap::from([("/".to_owned(), 11), ("/x".to_owned(), 1)]));
    assert_eq!(truth.statuses, BTreeMap::from([(200, 12), (404, 1)]));
    assert_eq!(truth.bytes, ByteCounts { received: 10, sent: 7 });
}

#[test]
fn paths_are_bounded_and_none_is_lost() {
    let mut one = Counts::default();
    for at in 0..300 {
        ask(&mut one, &format!("/{at}"), 1);
    }
    ask(&mut one, &"/long".repeat(100), 2);
    let mut other = Counts::default();
    for at in 200..400 {
        ask(&mut other, &format!("/{at}"), 3);
    }
    let truth = Truth::of(&[one, other]);
    assert_eq!(truth.paths.len(), PATHS_MAX + 1);
    assert_eq!(truth.paths.values().sum::<u64>(), truth.requests);
    assert_eq!(truth.paths["/399"], 3, "the most asked for are kept");
}

#[test]
fn a_reset_keeps_what_is_open() {
    let mut counts = connected(3, 2);
    ask(&mut counts, "/", 5);
    let generation = counts.generation();
    counts.reset();
    assert_ne!(counts.generation(), generation);
    let truth = Truth::of(&[counts]);
    let connections = ConnectionCounts { open: 2, ..ConnectionCounts::default() };
    let expected =
        Truth { schema: "wavetank.truth/1", threads: 1, connections, ..Truth::of(&[Counts::default()]) };
    assert_eq!(truth, expected);
}

#[test]
fn json_is_as_documented() {
    let mut counts = connected(1, 1);
    ask(&mut counts, "/", 1);
    let json = String::from_utf8(Truth::of(&[counts]).to_json()).expect("JSON is UTF-8");
    let expected = concat!(
        r#"{"schema":"wavetank.truth/1","requests":1,"answers":1,"bad_requests":0,"#,
        r#""connections":{"accepted":1,"open":1,"control":0,"accept_failed":0},"#,
        r#""handshakes":{"full":0,"resumed":0,"failed":0},"bytes":{"received":0,"sent":0},"#,
        r#""paths":{"/":1},"statuses":{"200":1},"#,
        r#""arrivals":{"per_second":[1],"later":0,"span_s":0.0,"gaps_us":{"count":0,"complete":true,"min":0.0,"#,
        r#""mean":0.0,"p50":0.0,"p90":0.0,"p99":0.0,"p99_9":0.0,"max":0.0}},"threads":1}"#,
        "\n"
    );
    assert_eq!(json, expected);
}
