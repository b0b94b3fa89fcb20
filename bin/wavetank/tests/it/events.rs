//! Server-sent events: against `wavetank serve` and scripted responses.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use wavetank_testkit::{Client, Outcome, Program, RunHarness, Script, ScriptAction, Serve, Target};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

fn load(url: &str, words: &str) -> Outcome {
    RunHarness::new(PROGRAM).load(url, words.split_whitespace()).run()
}

fn run(harness: &RunHarness, text: &str, engine: &str) -> Outcome {
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe", "--engine", engine]).run()
}

fn sse_url(target: &Target) -> String {
    target.url("/").replace("http://", "sse://")
}

/// Returns the number of events that `serve` has sent.
fn sent(serve: &Serve) -> u64 {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    counts["messages"]["sent"].as_u64().expect("a number of messages")
}

/// Users read some events of a stream, with TLS and without.
#[test]
fn a_journey_of_events() {
    for (engine, tls) in ENGINES.into_iter().flat_map(|engine| [(engine, false), (engine, true)]) {
        let words: &[&str] = if tls { &["--engine", engine, "--tls"] } else { &["--engine", engine] };
        let serve = Serve::start(&Program::new(PROGRAM), words);
        let (scheme, insecure) = if tls { ("sses", "http: {tls: {verify: false}}\n") } else { ("sse", "") };
        let text = format!(
            "wavetank: 1\ntarget: {scheme}://{}\n{insecure}steps:\n\
             \x20 - sse.open: /events?rate=200\n    check: status = 200\n\
             \x20 - repeat: 8\n    steps:\n      - sse.wait: event = tick\n        extract: {{n: json $.n}}\n\
             \x20       check: [\"id = ${{n}}\", data contains n]\n\
             \x20 - sse.wait: any\n    messages: 2\n    check: data contains n\n\
             \x20 - sse.close: true\nphases: [{{users: 2, sessions: 10}}]\n",
            serve.address()
        );
        let outcome = run(&RunHarness::new(PROGRAM), &text, engine);
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (110, 0), "{result}");
        assert_eq!(result.count("connections.opened"), 10, "{result}");
        // The counts of a server with TLS cannot be read without it.
        assert!(tls || sent(&serve) >= 100, "{result}");
    }
}

#[test]
fn a_url_waits_for_events() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &[]);
        let url = format!("sse://{}/events?rate=200", serve.address());
        let outcome = load(&url, &format!("-c 3 -n 60 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (60, 0), "{result}");
        assert_eq!(result.count("connections.opened"), 3, "{result}");
        assert!(sent(&serve) >= 60, "{result}");
    }
}

#[test]
fn one_user_is_shown_every_event() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let text = format!(
        "wavetank: 1\ntarget: sse://{}\nsteps:\n  - sse.open: /events?rate=100\n  - sse.wait: id = 2\n\
         \x20 - sse.close: true\nphases: [{{users: 1, sessions: 1}}]\n",
        serve.address()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(0);
    for shown in ["> GET /events?rate=100", "> wait for an event", "< event", "id: 2", "event stream close"] {
        assert!(tried.stdout.contains(shown), "{shown}: {tried}");
    }
}

/// After a loss, the next stream of the same user goes on behind the last event.
#[test]
fn a_lost_stream_is_continued() {
    for engine in ENGINES {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ids = Arc::clone(&seen);
        let target = Target::start(Script::new(move |request| {
            let last: u64 = request.field("last-event-id").map_or(0, |id| id.parse().expect("a number"));
            ids.lock().expect("no panic").push(last);
            let events = format!("{HEAD}id: {}\ndata: a\n\nid: {}\ndata: b\n\nid: 99", last + 1, last + 2);
            vec![ScriptAction::Send(events.into_bytes()), ScriptAction::Close]
        }));
        // The wait ends with the stream, whatever it has seen of it.
        let open = "  - sse.open: /\n  - sse.wait: data = never\n";
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n{open}{open}{open}phases: [{{users: 1, sessions: 1}}]\n",
            sse_url(&target)
        );
        let outcome = run(&RunHarness::new(PROGRAM), &text, engine);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("errors.closed_early")), (3, 3), "{outcome}");
        assert_eq!(*seen.lock().expect("no panic"), [0, 2, 4], "{outcome}");
    }
}

/// Answers with these bytes. Expects that both requests fail in `class`, with this text.
#[track_caller]
fn check_bad(script: &Script, class: &str, text: &str) {
    for engine in ENGINES {
        let target = Target::start(script.clone());
        let text_of_file = format!(
            "wavetank: 1\ntarget: {}\nhttp: {{body_max: 1kB, timeout: 1s}}\nsteps:\n  - sse.wait: any\n\
             phases: [{{users: 1, sessions: 2}}]\n",
            sse_url(&target)
        );
        let harness = RunHarness::new(PROGRAM);
        let file = harness.place().write("x.yaml", text_of_file);
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        let result = outcome.result();
        result.conserved();
        assert_eq!(result.count(&format!("errors.{class}")), 2, "{class}: {outcome}");
        assert!(outcome.stdout.contains(text), "{text}: {outcome}");
    }
}

#[test]
fn bad_streams_have_their_class() {
    let raw = |text: &str| Script::raw(text.as_bytes(), false);
    check_bad(&raw("HTTP/1.1 204 No Content\r\n\r\n"), "status", "event stream with status 204");
    check_bad(
        &raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
        "protocol",
        "not an event stream",
    );
    check_bad(&raw("SSH-2.0-OpenSSH\r\n"), "protocol", "");
    let endless = format!("{HEAD}data: {}", "x".repeat(2_000));
    check_bad(&raw(&endless), "body_limit", "longer than the limit");
    let many = format!("{HEAD}{}", "data: x\n".repeat(800));
    check_bad(&raw(&many), "body_limit", "longer than the limit");
    check_bad(&Script::raw(format!("{HEAD}data: half").as_bytes(), true), "closed_early", "");
    let chunked = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    check_bad(&raw(&format!("{chunked}0\r\n\r\n")), "closed_early", "it has ended");
    check_bad(&raw(&format!("{chunked}zz\r\n")), "protocol", "");
    check_bad(&raw(HEAD), "request_timeout", "");
}

/// Held streams stay open between events, and are opened again behind the last one.
#[test]
fn streams_are_held() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &[]);
        let text = format!(
            "wavetank: 1\ntarget: sse://{}/events?rate=5\n\
             phases:\n  - {{name: open, hold: 0 to 100, at: 1k/s}}\n  - {{name: keep, hold: 100, for: 1s}}\n\
             thresholds: [held >= 100 in keep, lost = 0]\n",
            serve.address()
        );
        let outcome = run(&RunHarness::new(PROGRAM), &text, engine);
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!(result.count("connections.opened"), 100, "{result}");
        assert!(sent(&serve) >= 300, "{result}");
    }
}

#[test]
fn a_freeze_shows() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--freeze", "600ms", "--freeze-at", "100ms"]);
        let url = format!("sse://{}/events?rate=50", serve.address());
        let result = load(&url, &format!("-c 1 -n 40 --engine {engine}")).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (40, 0), "{result}");
        assert!(result.number("response_us.max") >= 400_000.0, "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &str, message: &str| {
        let outcome = Program::new(PROGRAM).args(["run"]).args(words.split_whitespace()).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check("sse://127.0.0.1:1/ --no-keepalive", "any number of messages");
    check("sse://127.0.0.1:1/ -X POST", "always opened by GET");
    check("sse://127.0.0.1:1/ --body x", "sends nothing");
    check("sse://127.0.0.1:1/ -r 10/s", "-c CONNECTIONS");
    check("sse://127.0.0.1:1/${user}", "sse.open");
}

/// A server that does not accept the client is not one without such a page.
#[test]
fn refused_logins_have_their_class() {
    for engine in ENGINES {
        for (scheme, step) in [("ws", "ws.connect"), ("sse", "sse.open")] {
            for (status, class) in [(401, "login"), (403, "login"), (404, "status"), (503, "status")] {
                let target = Target::start(Script::statuses(&[status]));
                let text = format!(
                    "wavetank: 1\ntarget: {}\nsteps: [{step}: /]\nphases: [{{users: 1, sessions: 2}}]\n",
                    target.url("/").replacen("http", scheme, 1)
                );
                let harness = RunHarness::new(PROGRAM);
                let outcome = run(&harness, &text, engine);
                let result = outcome.result();
                result.conserved();
                assert_eq!(result.count(&format!("errors.{class}")), 2, "{step} {status}: {outcome}");
                let (step, series) =
                    (outcome.stdout.contains(&status.to_string()), result.count("requests.failed"));
                assert!(step && series == 2, "{outcome}");
            }
        }
    }
}
