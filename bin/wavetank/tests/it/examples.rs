//! The shipped examples: each passes `check` and `plan`, and the command in its first line
//! rehearses it.

use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Client, Outcome, RunHarness, RunResult, Script, Serve, Target, TimingMismatch, expect_time, retry_timing,
};

/// Target of the examples' own rehearsal commands.
const THEIR_TARGET: &str = "http://127.0.0.1:8080";

fn trial() -> RunHarness {
    RunHarness::new(env!("CARGO_BIN_EXE_wavetank"))
}

fn folder() -> String {
    format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the names of all files in `examples/`.
fn examples() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the examples are in the repository");
    // Folders in it hold other things, such as labs.
    let files = entries.map(|entry| entry.expect("it can be read")).filter(|entry| entry.path().is_file());
    let names = files.map(|entry| entry.file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("plain names")).collect();
    names.sort();
    assert!(names.len() >= 7, "{names:?}");
    names
}

/// Returns the rehearsal command in the first line of an example, after `wavetank`. Files have
/// their full path, and the target is replaced.
fn rehearsal(name: &str, target: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("{}/{name}", folder())).expect("an example is text");
    let first = text.lines().next().unwrap_or_default();
    let words = first.strip_prefix("# rehearse: wavetank ");
    let words = words.unwrap_or_else(|| panic!("the first line of {name} is no rehearsal command: {first}"));
    let at = |word: &str| match word.strip_prefix("examples/") {
        Some(file) => format!("{}/{file}", folder()),
        None => word.replace(THEIR_TARGET, target),
    };
    words.split_whitespace().map(at).collect()
}

/// Returns the server's counts.
fn truth(serve: &Serve) -> Value {
    let reported = Client::connect(serve.address()).get("/truth");
    serde_json::from_slice(&reported.body).expect("/truth is JSON")
}

/// Runs the rehearsal command of an example against this target.
fn rehearse(trial: &RunHarness, name: &str, target: &str) -> Outcome {
    let words = rehearsal(name, target);
    assert_eq!(words[0], "run", "{name}");
    trial.program().args(words).args(["--format", "json"]).run()
}

/// Returns the result of rehearsing an example against `url`, which is its own target otherwise.
#[track_caller]
fn rehearsed_at(name: &str, own: &str, url: &str) -> RunResult {
    let trial = trial();
    let words = rehearsal(name, THEIR_TARGET).into_iter().map(|word| word.replace(own, url));
    let outcome = trial.program().args(words).args(["--format", "json"]).run();
    let result = outcome.result();
    result.conserved();
    assert_eq!(result.count("requests.failed"), 0, "{outcome}");
    let notes = result.at("notes").to_string();
    assert!(notes.contains("rehearsal"), "it is marked as a rehearsal: {result}");
    result
}

/// Returns the messages that the server has received and sent.
fn messages(serve: &Serve) -> (u64, u64) {
    let counts = &truth(serve)["messages"];
    (counts["received"].as_u64().expect("a count"), counts["sent"].as_u64().expect("a count"))
}

/// Runs the rehearsal command of an example against `serve --any`, and compares its counts with the
/// server's.
#[track_caller]
fn rehearsed(name: &str, verify: impl Fn(&RunResult, &Value) -> Result<(), TimingMismatch>) {
    let serve = Serve::start(&trial().program(), &["--any"]);
    retry_timing(|| {
        let trial = trial();
        let reset = "POST /truth/reset HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(Client::connect(serve.address()).send(reset).receive().status, 204);
        let outcome = rehearse(&trial, name, &format!("http://{}", serve.address()));
        expect_time(outcome.took < Duration::from_secs(40), || format!("well under a minute: {outcome}"))?;
        let result = outcome.result();
        let doubted = outcome.exit == Some(3) && result.text("verdict.blame") == "generator";
        expect_time(!doubted, || format!("the run calls itself invalid\n{outcome}"))?;
        // A threshold that is missed while nothing fails is one of time.
        let is_late = outcome.exit == Some(1) && result.count("requests.failed") == 0;
        expect_time(!is_late, || format!("a threshold was missed\n{outcome}"))?;
        outcome.expect_exit(0);
        result.conserved();
        let truth = truth(&serve);
        let sent = result.sent_total();
        // The server may not have read requests that were cut before their response.
        let read = sent - result.count("requests.open")..=sent;
        let seen = truth["requests"].as_u64().expect("a count");
        assert!(read.contains(&seen), "{seen} of {sent} requests arrived: {result}");
        assert_eq!(truth["bad_requests"], 0, "{result}");
        let accepted = truth["connections"]["accepted"].as_u64();
        assert_eq!(accepted, Some(result.count("connections.opened")), "{result}");
        let notes = result.at("notes").to_string();
        assert!(notes.contains("rehearsal"), "it is marked as a rehearsal: {result}");
        verify(&result, &truth)
    });
}

/// Returns the value of a threshold, and whether it passes.
#[track_caller]
fn threshold(result: &RunResult, expr: &str) -> (f64, Option<bool>) {
    let all = result.at("thresholds").as_array().expect("a list");
    let one = all.iter().find(|one| one["expr"] == expr);
    let one = one.unwrap_or_else(|| panic!("no threshold {expr}: {result}"));
    (one["value"].as_f64().unwrap_or(f64::NAN), one["ok"].as_bool())
}

#[test]
fn every_example_passes_check_and_plan() {
    let trial = trial();
    for name in examples() {
        let file = format!("{}/{name}", folder());
        trial.program().args(["check", &file]).run().expect_exit(0);
        for words in [&[][..], &["--scale", "1/10000", "--speed", "20x"]] {
            let planned = trial.program().args(["plan", &file]).args(words).run();
            planned.expect_exit(0);
            let json = trial.program().args(["plan", &file, "--format", "json"]).args(words).run();
            json.expect_exit(0);
            assert_eq!(json.json()["name"], name.trim_end_matches(".yaml"), "{json}");
        }
        // The program knows the subcommand.
        let mut words = rehearsal(&name, THEIR_TARGET);
        words[0] = if words[0] == "run" { "check".to_owned() } else { words[0].clone() };
        trial.program().args(words).run().expect_exit(0);
    }
    assert!(trial.place().runs("runs").is_empty(), "neither keeps an archive");
}

#[test]
fn a_million_connections_are_rehearsed_with_a_hundred() {
    rehearsed("lb-million.yaml", |result, truth| {
        assert_eq!(result.count("connections.opened"), 100, "{result}");
        assert_eq!(threshold(result, "held >= 100 in keep"), (100.0, Some(true)), "{result}");
        assert_eq!(threshold(result, "lost = 0"), (0.0, Some(true)), "{result}");
        assert_eq!(threshold(result, "established(lb1) >= 200 in keep").1, None, "no one observes: {result}");
        assert_eq!(truth["paths"]["/ping"].as_u64(), Some(result.count("requests.done")), "{result}");
        Ok(())
    });
}

#[test]
fn a_million_on_this_host_are_rehearsed_with_ten_thousand() {
    rehearsed("million-here.yaml", |result, truth| {
        assert_eq!(result.count("connections.opened"), 10_000, "{result}");
        assert_eq!(threshold(result, "held >= 10000 in keep"), (10_000.0, Some(true)), "{result}");
        assert_eq!(threshold(result, "lost = 0"), (0.0, Some(true)), "{result}");
        assert_eq!(truth["connections"]["peak"], 10_000, "{result}");
        assert_eq!(truth["paths"]["/ping"].as_u64(), Some(result.count("requests.done")), "{result}");
        Ok(())
    });
}

#[test]
fn seven_million_sockets_are_rehearsed_with_some_hundred() {
    rehearsed("haproxy-7m.yaml", |result, truth| {
        assert_eq!(result.count("connections.opened"), 348, "{result}");
        assert_eq!(threshold(result, "held >= 348 in keep"), (348.0, Some(true)), "{result}");
        assert_eq!(threshold(result, "swap(lb1) = 0").1, None, "no one observes: {result}");
        assert_eq!(truth["paths"]["/api"].as_u64(), Some(result.count("requests.done")), "{result}");
        Ok(())
    });
}

#[test]
fn a_million_requests_a_second_are_rehearsed_with_a_thousand() {
    rehearsed("nginx-million.yaml", |result, truth| {
        let (rate, held) = threshold(result, "done_rate > 1000/s");
        assert_eq!(held, Some(true), "{result}");
        let counted = result.count("requests.done") as f64 / result.number("duration_s");
        assert!((rate - counted).abs() <= counted * 0.02, "{rate} and {counted}: {result}");
        assert_eq!(truth["connections"]["accepted"], 10, "{result}");
        Ok(())
    });
}

#[test]
fn sessions_without_an_end_are_cut_where_the_file_says() {
    rehearsed("tsung-static.yaml", |result, _| {
        let sessions = |name: &str| result.count(&format!("sessions.{name}"));
        assert!(sessions("started") > 0 && sessions("open") == sessions("started"), "{result}");
        // 8/s for 0.6 s twice and 3/s for 1.8 s: 15 are expected, and the number is fixed by the
        // seed.
        assert!((5..=30).contains(&sessions("started")), "{result}");
        expect_time(result.number("duration_s") < 5.0, || format!("drain: 0s cuts immediately: {result}"))
    });
}

#[test]
fn every_shape_is_rehearsed() {
    rehearsed("shapes.yaml", |result, truth| {
        let scenario = |name: &str| {
            let all = result.at("scenarios").as_array().expect("a list");
            let one = all.iter().find(|one| one["name"] == name);
            one.unwrap_or_else(|| panic!("no scenario {name}: {result}"))
        };
        for (name, sessions, requests) in [("httperf_wsess", 5, 25), ("httperf_conns", 5, 5)] {
            let (one, counts) = (scenario(name), [sessions, requests]);
            let found =
                ["/sessions/done", "/requests/done"].map(|at| one.pointer(at).and_then(Value::as_u64));
            assert_eq!(found, counts.map(Some), "{name}: {result}");
        }
        for name in ["stepping", "locust"] {
            assert!(scenario(name)["requests"]["done"].as_u64() > Some(0), "{name}: {result}");
        }
        assert_eq!(truth["paths"]["/"].as_u64(), Some(result.count("requests.done")), "{result}");
        Ok(())
    });
}

#[test]
fn a_chat_is_rehearsed() {
    let serve = Serve::start(&trial().program(), &[]);
    let url = format!("ws://{}/ws/echo", serve.address());
    let result = rehearsed_at("websocket.yaml", "ws://127.0.0.1:8080/ws/echo", &url);
    assert_eq!(threshold(&result, "held >= 100 in talk"), (100.0, Some(true)), "{result}");
    assert_eq!(threshold(&result, "lost = 0"), (0.0, Some(true)), "{result}");
    let (received, sent) = messages(&serve);
    let done = result.count("requests.done");
    assert!(done > 0 && (done..=result.sent_total()).contains(&received), "{received}: {result}");
    assert_eq!(received, sent, "{result}");
}

#[test]
fn a_ticker_is_rehearsed() {
    let serve = Serve::start(&trial().program(), &[]);
    let url = format!("sse://{}/events", serve.address());
    let result = rehearsed_at("events.yaml", "sse://127.0.0.1:8080/events", &url);
    assert_eq!(threshold(&result, "held >= 100 in listen"), (100.0, Some(true)), "{result}");
    assert_eq!(threshold(&result, "lost = 0"), (0.0, Some(true)), "{result}");
    let done = result.count("requests.done");
    assert!(done > 0 && messages(&serve).1 >= done, "{result}");
}

#[test]
fn a_line_protocol_is_rehearsed() {
    let serve = Serve::start(&trial().program(), &["--tcp", "127.0.0.1:0"]);
    let result = rehearsed_at("tcp.yaml", "tcp://127.0.0.1:7000", &serve.tcp_url());
    assert!(result.count("requests.done") > 0, "{result}");
    assert!(messages(&serve).0 > 0, "{result}");
}

#[test]
fn datagrams_are_rehearsed() {
    let serve = Serve::start(&trial().program(), &["--udp", "127.0.0.1:0"]);
    let result = rehearsed_at("udp.yaml", "udp://127.0.0.1:7000", &serve.udp_url());
    assert!(result.count("requests.done") > 0, "{result}");
    assert!(messages(&serve).0 > 0, "{result}");
}

/// The thresholds of the same rehearsals fail if the target does not meet them.
#[test]
fn a_rehearsal_can_fail() {
    let broken = |name: &str, script: Script, expr: &str| {
        let target = Target::start(script);
        let trial = trial();
        let outcome = rehearse(&trial, name, target.url("").trim_end_matches('/'));
        outcome.expect_exit(1);
        let result = outcome.result();
        result.conserved();
        assert_eq!(threshold(&result, expr).1, Some(false), "{result}");
        let reasons = result.at("verdict.reasons").to_string();
        assert!(reasons.contains(expr), "{result}");
    };
    // Ten users with requests of 50 ms make 200 requests per second.
    broken("nginx-million.yaml", Script::constant(Duration::from_millis(50)), "done_rate > 1000/s");
    broken("lb-million.yaml", Script::close_idle(Duration::from_millis(400)), "lost = 0");
}
