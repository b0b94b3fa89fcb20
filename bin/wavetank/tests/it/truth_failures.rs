//! Truth suite: every kind of failure of a target is counted in its class.

use std::net::TcpStream;
use std::time::Duration;

use wavetank_testkit::clock::poll_until;
use wavetank_testkit::{
    Accept, RunHarness, RunResult, Script, ScriptAction, Target, TimingMismatch, answer, expect_time,
    retry_timing,
};

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Runs `words` against `script`. All offered requests must fail with `class`.
#[track_caller]
fn check_all_fail(script: Script, words: &str, class: &str) -> RunResult {
    let target = Target::start(script);
    let result = trial().run(&target, words, 1);
    let (offered, failed) = (result.count("requests.offered"), result.count("requests.failed"));
    assert!(offered > 0 && failed == offered, "all fail: {result}");
    assert_eq!(result.count_or_zero(&format!("errors.{class}")), failed, "all as {class}: {result}");
    assert_eq!(result.status(), "fail", "{result}");
    result
}

#[test]
fn refused_connections_fail_and_are_no_throughput() {
    let refusing = Script::constant(ms(0)).accepting(Accept::Refuse);
    let result = check_all_fail(refusing, "-c 4 -n 20 --no-probe", "connect_refused");
    assert_eq!(result.count("requests.sent"), 0, "{result}");
    assert_eq!(result.count("response_us.count"), 0, "{result}");
    assert_eq!(result.count("failed_us.count"), 20, "{result}");
    assert_ne!(result.text("verdict.blame"), "generator", "{result}");
}

/// All `count` requests timed out after they were sent. A generator that was late for a whole
/// timeout finds it over while the connection opens.
#[track_caller]
fn check_timeouts(result: &RunResult, count: u64) -> Result<(), TimingMismatch> {
    let [sent, unsent] =
        ["request_timeout", "connect_timeout"].map(|class| result.count_or_zero(&format!("errors.{class}")));
    assert_eq!(sent + unsent, count, "{result}");
    expect_time(unsent == 0, || format!("{unsent} of {count} requests were not sent: {result}"))
}

#[test]
fn silence_ends_in_timeouts_that_stay_in_the_response_time() {
    let target = Target::start(Script::silence());
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 4 -n 12 --timeout 400ms --no-probe", 1)?;
        assert_eq!(result.status(), "fail", "{result}");
        assert_eq!(result.count("response_us.censored"), 12, "{result}");
        check_timeouts(&result, 12)?;
        assert_eq!(result.count("requests.sent"), 12, "{result}");
        let lost = result.count("connections.lost");
        assert_eq!(lost, 12, "a timed-out request takes its connection along: {result}");
        result.check_time("response_us.p50", ms(400))?;
        result.check_time("response_us.p75", ms(400))
    });
}

#[test]
fn an_unaccepted_connection_is_a_request_timeout() {
    let target = Target::start(Script::constant(ms(0)).accepting(Accept::Never));
    let trial = trial();
    retry_timing(|| {
        let words = "-c 2 -n 4 --timeout 300ms --no-probe".split_whitespace();
        let outcome = trial.load(&target.url("/"), words).run();
        let result = outcome.expect_exit(1).result();
        result.conserved();
        check_timeouts(&result, 4)?;
        result.check_time("response_us.p50", ms(300))
    });
}

#[test]
fn a_full_accept_queue_is_a_connect_timeout() {
    let later = Accept::After { delay: Duration::from_mins(1), backlog: 0 };
    let target = Target::start(Script::constant(ms(0)).accepting(later));
    // Fills the kernel's queue until it stops responding.
    let mut queued = Vec::new();
    let full = poll_until(Duration::from_mins(1), || {
        let stream = TcpStream::connect_timeout(&target.address(), ms(200));
        stream.map(|stream| queued.push(stream)).is_err().then_some(())
    });
    assert!(full.is_some(), "the queue took {} connections", queued.len());
    retry_timing(|| {
        let words = "-c 2 -n 6 --connect-timeout 400ms --timeout 2s --no-probe";
        let result = trial().try_run(&target, words, 1)?;
        assert_eq!(result.count_or_zero("errors.connect_timeout"), 6, "{result}");
        assert_eq!(result.count("requests.sent"), 0, "{result}");
        assert_eq!(result.count("response_us.censored"), 6, "{result}");
        // The first two connects start before the phase, the others with their requests.
        result.check_time("response_us.p50", ms(400))
    });
}

#[test]
fn a_slow_acceptor_is_part_of_the_response() {
    retry_timing(|| {
        let slow = Accept::After { delay: ms(1_500), backlog: 64 };
        let target = Target::start(Script::constant(ms(1)).accepting(slow));
        let result = trial().try_run(&target, "-r 20/s -c 40 -d 4s --arrivals even --no-probe", 0)?;
        assert_eq!(result.count("requests.done"), 80, "{result}");
        // The first request comes some time after the target's start, and waits for the rest of the
        // 1.5 s.
        result.within("response_us.max", ms(500)..=ms(1_520))?;
        result.check_time("response_us.p50", ms(1))
    });
}

#[test]
fn resets_are_resets() {
    check_all_fail(Script::reset(), "-c 2 -n 20 --no-probe", "reset");
    let result = check_all_fail(Script::reset_after_head(1_000), "-c 2 -n 20 --no-probe", "reset");
    assert_eq!(result.count("wire.retried"), 0, "bytes of the answer had come: {result}");
    assert_eq!(result.count("connections.lost"), 20, "{result}");
}

#[test]
fn half_an_answer_is_closed_early() {
    let result = check_all_fail(Script::half_close(1_000), "-c 2 -n 20 --no-probe", "closed_early");
    assert_eq!(result.count("wire.retried"), 0, "{result}");
    let cut = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel";
    check_all_fail(Script::raw(cut, true), "-c 2 -n 20 --no-probe", "closed_early");
    check_all_fail(Script::raw(b"HTTP/1.1 200 OK\r\nConte", true), "-c 2 -n 20 --no-probe", "closed_early");
    // No byte at all, on connections that have not served anything: no retry.
    let result = check_all_fail(Script::raw(b"", true), "-c 2 -n 20 --no-probe", "closed_early");
    assert_eq!(result.count("wire.retried"), 0, "{result}");
}

#[test]
fn wrong_framing_is_a_protocol_error_and_the_run_goes_on() {
    let wrong: [&[u8]; 9] = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTPT/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: minus\r\n\r\nhello",
    ];
    for bytes in wrong {
        let shown = String::from_utf8_lossy(bytes).into_owned();
        // Every other response is valid. The run must continue in spite of the invalid ones.
        let (right, bytes) = (answer(200, b"right"), bytes.to_vec());
        let target = Target::start(Script::new(move |seen| {
            vec![ScriptAction::Send(if seen.number % 2 == 0 { right.clone() } else { bytes.clone() })]
        }));
        let result = trial().run(&target, "-c 1 -n 20 --no-probe", 1);
        assert_eq!(result.count_or_zero("errors.protocol"), 10, "{shown}: {result}");
        assert_eq!(result.count("requests.done"), 10, "{shown}: {result}");
        assert_eq!(target.truth().connections, 11, "each wrong answer costs its connection: {shown}");
    }
}

#[test]
fn bytes_after_a_whole_response_cost_the_connection_and_not_the_response() {
    let mut with_body = answer(200, b"hello");
    with_body.extend_from_slice(b"and more");
    let empty = b"HTTP/1.1 204 No Content\r\n\r\nbody".to_vec();
    let cached = b"HTTP/1.1 304 Not Modified\r\n\r\n0\r\n\r\n".to_vec();
    for bytes in [with_body, empty, cached] {
        for engine in ["epoll", "auto"] {
            let target = Target::start(Script::raw(&bytes, false));
            let trial = trial();
            let words = ["-c", "1", "-n", "10", "--no-probe", "-X", "POST", "--engine", engine];
            let result = trial.load(&target.url("/"), words).run().expect_exit(0).result();
            result.conserved().agrees_with(&target.settled());
            assert_eq!(result.count("requests.done"), 10, "{result}");
            assert_eq!(target.truth().connections, 10, "none is used again: {result}");
        }
    }
}

#[test]
fn a_kept_connection_that_ends_unannounced_is_reported_as_such() {
    for engine in ["epoll", "auto"] {
        let target = Target::start(Script::close_before_request(1));
        let words = ["-c", "1", "-n", "10", "--no-probe", "-X", "POST", "--engine", engine];
        let outcome = trial().load(&target.url("/"), words).run();
        let result = outcome.result();
        assert_eq!(result.count("requests.failed"), 5, "{result}");
        let finding = &result.at("findings")[0];
        let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        assert!(text("message").contains("a kept connection between requests"), "{finding}");
        assert!(text("evidence").contains("between requests, unannounced"), "{finding}");
        assert!(text("hint").contains("--no-keepalive"), "{finding}");
    }
}

#[test]
fn statuses_are_counted_and_judged() {
    let target = Target::start(Script::statuses(&[200, 204, 404, 304, 503]));
    let result = trial().run(&target, "-c 1 -n 50 --no-probe", 1);
    assert_eq!(result.count("requests.done"), 30, "{result}");
    assert_eq!(result.count_or_zero("errors.status"), 20, "{result}");
    for (status, count) in target.truth().by_status {
        assert_eq!(result.count(&format!("status.{status}")), count, "{result}");
    }
    let result = trial().run(&target, "-c 1 -n 50 --no-probe --expect-status 200-399,404,503", 0);
    assert_eq!(result.count("requests.done"), 50, "{result}");
}

#[test]
fn an_answer_after_the_end_is_open() {
    let target = Target::start(Script::constant(ms(2_500)));
    retry_timing(|| {
        let result = trial().try_run(&target, "-r 20/s -d 1s --arrivals even --drain 300ms --no-probe", 1)?;
        assert_eq!(result.count("requests.offered"), 20, "{result}");
        assert_eq!(result.count("requests.open"), 20, "{result}");
        assert_eq!(result.count("response_us.censored"), 20, "{result}");
        // Cut 300 ms after the phase: the youngest request waited 350 ms, the oldest 1.3 s.
        result.within("response_us.min", ms(330)..=ms(480))?;
        result.within("response_us.max", ms(1_290)..=ms(1_450))
    });
}

#[test]
fn an_answer_after_the_timeout_is_not_taken_for_the_next_one() {
    // Odd requests are answered late, with a body that must never be counted as done.
    let target = Target::start(Script::new(|seen| {
        if seen.number % 2 == 1 {
            return vec![
                ScriptAction::Wait(Duration::from_millis(600)),
                ScriptAction::Send(answer(500, b"late")),
            ];
        }
        vec![ScriptAction::Send(answer(200, b"in time"))]
    }));
    retry_timing(|| {
        let result = trial().try_run(&target, "-c 1 -n 6 --timeout 200ms --no-probe", 1)?;
        assert_eq!(result.count_or_zero("status.500"), 0, "{result}");
        let done = result.count("requests.done");
        assert!(done <= 3, "every other one is answered in time: {result}");
        // A machine that pauses lets the others time out, too.
        expect_time(done == 3, || format!("{done} of 3 answers came in time\n{result}"))?;
        assert_eq!(result.count_or_zero("errors.request_timeout"), 3, "{result}");
        Ok(())
    });
}

#[test]
fn nothing_but_one_failure_stops_the_run_early() {
    let target = Target::start(Script::constant(ms(0)).accepting(Accept::Refuse));
    let trial = trial();
    let outcome = trial.load(&target.url("/"), ["-c", "4", "-d", "40s", "--no-probe"]).run();
    let result = outcome.expect_exit(1).result();
    result.conserved();
    assert!(outcome.took < Duration::from_secs(35), "stopped early: {outcome}");
    assert!(outcome.took > Duration::from_secs(4), "not before five seconds have shown it: {outcome}");
    assert_ne!(result.text("verdict.blame"), "none", "{result}");
}

#[test]
fn a_probe_without_answer_ends_it_immediately() {
    let target = Target::start(Script::constant(ms(0)).accepting(Accept::Refuse));
    let trial = trial();
    let outcome = trial.load(&target.url("/"), ["-d", "30s"]).run();
    let result = outcome.expect_exit(1).result();
    assert!(outcome.took < Duration::from_secs(30), "no load follows: {outcome}");
    assert_eq!(result.at("verdict.reasons")[0], "probe", "{result}");
    assert_eq!(result.count("requests.offered"), 0, "{result}");
    assert_eq!(result.count("setup.failed"), 1, "{result}");
}
