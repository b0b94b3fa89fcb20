//! Truth suite: the ways in which connections end, and their effect on the requests on them.

use std::time::Duration;

use wavetank_testkit::{RunHarness, Script, ScriptAction, Target, answer, expect_time, retry_timing};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn an_idempotent_request_is_retried_once_after_an_unannounced_close() {
    // Each connection serves one request and closes, without a byte, on the next one. With one
    // user, every request but the first is sent twice.
    let target = Target::start(Script::close_before_request(1));
    let result = trial().run(&target, "-c 1 -n 40 --no-probe", 0);
    assert_eq!(result.count("requests.done"), 40, "{result}");
    assert_eq!(result.count("requests.sent"), 40, "a request is logical: {result}");
    assert_eq!(result.count("wire.retried"), 39, "{result}");
    let truth = target.truth();
    assert_eq!((truth.requests, truth.connections), (79, 40));
    assert_eq!(result.count("connections.opened"), 40, "{result}");
    assert_eq!(result.count("connections.lost"), 39, "{result}");
}

#[test]
fn a_retry_keeps_the_intended_instant() {
    // Every second request of a connection waits for 200 ms before the close without a byte.
    let target = Target::start(Script::new(|seen| match seen.on_connection {
        1 => vec![wavetank_testkit::script::ok()],
        _ => vec![ScriptAction::Wait(ms(200)), ScriptAction::Close],
    }));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 1 -n 12 --no-probe", 0)?;
        assert_eq!(result.count("wire.retried"), 11, "{result}");
        result.check_time("response_us.p50", ms(200))
    });
}

#[test]
fn bytes_are_those_the_target_counted() {
    let body = vec![b'x'; 300_000];
    let target = Target::start(Script::new(move |_| vec![ScriptAction::Send(answer(200, &body))]));
    let result = trial().run(&target, "-c 4 -n 60 --no-probe -X POST --body 0123456789", 0);
    let truth = target.truth();
    assert_eq!(result.count("bytes.received"), truth.bytes_sent, "{result}");
    assert_eq!(result.count("bytes.sent"), truth.bytes_received, "{result}");
}

#[test]
fn a_broken_pipeline_loses_no_count() {
    // Three responses, then a close with other requests in flight. The target closes without
    // reading what the kernel has buffered, so only the run's own counts can be checked.
    let target = Target::start(Script::close_before_request(3));
    let trial = trial();
    let words = "-c 2 --pipeline 4 -n 400 --no-probe".split_whitespace();
    let result = trial.load(&target.url("/"), words).run().result();
    result.conserved();
    assert_eq!(result.count("requests.offered"), 400, "{result}");
    assert_eq!(result.count("requests.open"), 0, "{result}");
    let answered = target.truth().by_status[&200];
    assert!(result.count("requests.done") <= answered, "no answer counts twice: {result}");
}

#[test]
fn the_sixth_version_of_addresses_works_too() {
    let Ok(probe) = std::net::TcpListener::bind("[::1]:0") else {
        wavetank_testkit::skip("the_sixth_version_of_addresses_works_too", "this host has no ::1");
        return;
    };
    drop(probe);
    let target = Target::start_at("[::1]:0".parse().expect("a literal"), Script::constant(ms(1)));
    let result = trial().run(&target, "-c 2 -n 20", 0);
    assert_eq!(result.count("requests.done"), 20, "{result}");
}

#[test]
fn a_post_is_never_sent_twice() {
    let target = Target::start(Script::close_before_request(1));
    let result = trial().run(&target, "-c 1 -n 40 -X POST --body x=1", 1);
    assert_eq!(result.count("wire.retried"), 0, "{result}");
    assert_eq!(result.count("requests.done"), 20, "{result}");
    assert_eq!(result.count_or_zero("errors.closed_early"), 20, "{result}");
    assert_eq!(target.truth().by_method["POST"], 40);
    assert_eq!(result.count("setup.sent"), 0, "no probe by POST: {result}");
}

#[test]
fn a_second_close_is_not_retried_again() {
    // The first connection answers once, and every other connection closes without a byte. A
    // connection that never served a response gives no reason to retry.
    let target = Target::start(Script::new(|seen| {
        let serves = seen.connection == 1 && seen.on_connection == 1;
        vec![if serves { wavetank_testkit::script::ok() } else { ScriptAction::Close }]
    }));
    let result = trial().run(&target, "-c 1 -n 4 --no-probe", 1);
    assert_eq!(result.count("requests.done"), 1, "{result}");
    assert_eq!(result.count_or_zero("errors.closed_early"), 3, "{result}");
    assert_eq!(result.count("wire.retried"), 1, "only the one on a connection that had served: {result}");
}

#[test]
fn an_announced_close_costs_nothing() {
    let target = Target::start(Script::close_announced(4));
    let result = trial().run(&target, "-c 2 -n 40 --no-probe", 0);
    assert_eq!(result.count("requests.done"), 40, "{result}");
    // A retry requires an unannounced end. The target's counts show which side ended the
    // connection.
    let truth = target.truth();
    assert_eq!(
        (result.count("wire.retried"), truth.malformed, truth.requests),
        (0, 0, 40),
        "{truth:?}: {result}"
    );
    assert_eq!(result.count("connections.lost"), 0, "announced is not lost: {result}");
    let opened = result.count("connections.opened");
    assert!((10..=12).contains(&opened), "four requests a connection: {result}");
    assert_eq!(target.truth().connections, opened);
}

#[test]
fn a_close_between_requests_is_noticed_before_the_next_one() {
    let target = Target::start(Script::close_idle(ms(40)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 5/s -c 1 -d 2s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 10, "{result}");
        let (connections, retried) = (target.truth().connections, result.count("wire.retried"));
        assert_eq!(connections, result.count("connections.opened"), "{result}");
        // A late request may find the connection of the one before it still open.
        expect_time(connections == 10, || format!("{connections} of 10 connections\n{result}"))?;
        expect_time(retried == 0, || format!("160 ms were not enough to notice {retried} times\n{result}"))
    });
}

#[test]
fn interim_answers_are_not_the_answer() {
    let target = Target::start(Script::interim());
    let result = trial().run(&target, "-c 2 -n 40", 0);
    assert_eq!(result.count("requests.done"), 40, "{result}");
    assert_eq!(result.count("status.200"), 40, "{result}");
    assert_eq!(result.at("status").as_object().map(serde_json::Map::len), Some(1), "{result}");
    assert_eq!(result.count("connections.opened"), 2, "the connections live on: {result}");
}

#[test]
fn a_body_until_close_is_whole() {
    let target = Target::start(Script::raw(b"HTTP/1.1 200 OK\r\n\r\nuntil the end", true));
    let result = trial().run(&target, "-c 2 -n 30 --no-probe", 0);
    assert_eq!(result.count("requests.done"), 30, "{result}");
    assert_eq!(target.truth().connections, 30);
    assert_eq!(result.count("connections.opened"), 30, "{result}");
}

#[test]
fn a_head_request_gets_no_body() {
    let target = Target::start(Script::new(|seen| {
        assert_eq!(seen.method, "HEAD");
        vec![ScriptAction::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n".to_vec())]
    }));
    let result = trial().run(&target, "-c 2 -n 30 -X HEAD", 0);
    assert_eq!(result.count("requests.done"), 30, "{result}");
    assert_eq!(target.truth().by_method["HEAD"], 31, "with the probe");
    assert_eq!(result.count("connections.opened"), 2, "{result}");
}

#[test]
fn no_keepalive_is_one_request_a_connection() {
    let target = Target::start(Script::constant(ms(1)));
    for words in ["--no-keepalive", "--http 1.0 --no-keepalive", "--requests-per-connection 1"] {
        let result = trial().run(&target, &format!("-c 3 -n 30 {words} --no-probe"), 0);
        assert_eq!(result.count("requests.done"), 30, "{words}: {result}");
        assert_eq!(target.truth().connections, 30, "{words}");
        assert_eq!(result.count("connections.opened"), 30, "{words}: {result}");
        assert_eq!(result.count("connections.lost"), 0, "{words}: {result}");
    }
}

#[test]
fn connections_live_as_long_as_asked() {
    let target = Target::start(Script::constant(ms(1)));
    for (words, connections) in [("", 2), ("--http 1.0", 2), ("--threads 2", 2)] {
        let result = trial().run(&target, &format!("-c 2 -n 30 {words} --no-probe"), 0);
        assert_eq!(target.truth().connections, connections, "{words}: {result}");
    }
    // One user, thirty requests, five on each connection.
    let result = trial().run(&target, "-c 1 -n 30 --requests-per-connection 5 --no-probe", 0);
    assert_eq!(target.truth().connections, 6, "{result}");
}

#[test]
fn a_close_is_fin_or_reset_as_asked() {
    // The client ends each of six connections after five requests. The target never does.
    let target = Target::start(Script::constant(ms(1)));
    let words = "-c 1 -n 30 --requests-per-connection 5 --no-probe";
    let result = trial().run(&target, &format!("{words} --close rst"), 0);
    assert_eq!(target.truth().ended_by_reset, 6, "{result}");
    let result = trial().run(&target, &format!("{words} --close fin"), 0);
    let truth = target.truth();
    assert_eq!((truth.ended_by_fin, truth.ended_by_reset), (6, 0), "{result}");
}

#[test]
fn what_is_sent_is_what_was_asked_for() {
    let target = Target::start(Script::new(|seen| {
        let reported = [
            seen.method == "PUT",
            seen.path == "/a/b?c=d",
            seen.version == "HTTP/1.1",
            seen.field("x-one") == Some("1"),
            seen.field("x-two") == Some("2"),
            seen.field("host").is_some_and(|host| host.starts_with("127.0.0.1:")),
            seen.field("user-agent").is_some_and(|agent| agent.starts_with("wavetank/")),
            seen.body == b"the body",
        ];
        let right = reported.iter().all(|reported| *reported);
        vec![ScriptAction::Send(answer(if right { 200 } else { 400 }, format!("{reported:?}").as_bytes()))]
    }));
    let trial = trial();
    let fields = trial.place().write("fields", "X-One: 1\nX-Two: 2\n");
    let body = trial.place().write("body", "the body");
    let base = ["-c", "2", "-n", "10", "-X", "PUT"];
    let ways: [&[&str]; 3] = [
        &["-H", "X-One: 1", "-H", "X-Two: 2", "--body", "the body"],
        &["-H", &format!("@{fields}"), "--body-file", &body],
        &["-H", &format!("@{fields}"), "--body-file", "-"],
    ];
    for way in ways {
        target.reset();
        let words = base.iter().chain(way).copied();
        let outcome = trial.load(&target.url("/a/b?c=d"), words).input("the body").run();
        let result = trial.check(&outcome, &target, 0);
        assert_eq!(result.count("requests.done"), 10, "{way:?}: {result}");
    }
}

#[test]
fn a_pipeline_keeps_its_number_of_requests_open() {
    let target = Target::start(Script::constant(ms(2)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 2 --pipeline 8 -n 320 --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 320, "{result}");
        assert_eq!(target.truth().connections, 2);
        // Eight requests are queued on a connection that serves one in 2 ms.
        result.within("response_us.p50", ms(15)..=ms(20))
    });
}

#[test]
fn source_addresses_and_connect_to_are_used() {
    let target = Target::start(Script::constant(ms(1)));
    let port = target.address().port();
    let words = format!(
        "-c 4 -n 40 --no-probe --source 127.0.0.8/30 --connect-to somewhere.test:80:127.0.0.1:{port}"
    );
    let trial = trial();
    let outcome = trial.load("http://somewhere.test/", words.split_whitespace()).run();
    let result = trial.check(&outcome, &target, 0);
    assert_eq!(result.count("requests.done"), 40, "{result}");
    let sources = target.truth().sources;
    let planned = ["127.0.0.8", "127.0.0.9", "127.0.0.10", "127.0.0.11"];
    assert!(sources.keys().all(|source| planned.contains(&source.to_string().as_str())), "{sources:?}");
    assert!(sources.len() >= 2, "more than one of them: {sources:?}");
}
