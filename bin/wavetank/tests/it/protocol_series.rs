//! Greetings, pings and messages of protocols, in results, conditions and exports; and the class
//! `login`.

use serde_json::Value;
use wavetank_testkit::{Client, Outcome, Program, RunHarness, Serve};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

fn run(harness: &RunHarness, text: &str, words: &str) -> Outcome {
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe"].into_iter().chain(words.split_whitespace())).run()
}

/// Held WebSockets are pinged while they rest, and messages are counted as the server does.
#[test]
fn websockets_are_pinged() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let text = format!(
            "wavetank: 1\ntarget: ws://{}/ws/echo\nws: {{ping: 20ms}}\nsteps:\n\
             \x20 - ws.send: a\n    reply: any\n  - ws.send: b\n  - ws.wait: any\n  - think: 100ms\n\
             phases: [{{users: 3, sessions: 12}}]\n\
             thresholds: [max(ping) < 60s, max(hello) < 60s, messages_in = 24, messages_out = 24]\n",
            serve.address()
        );
        let harness = RunHarness::new(PROGRAM);
        let outcome = run(&harness, &text, &format!("--engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        let counts = ["messages.sent", "messages.received", "hello_us.count"].map(|name| result.count(name));
        assert_eq!(counts, [24, 24, 3], "{outcome}");
        let (sent, answered) = (result.count("pings.sent"), result.count("pings.answered"));
        assert!(answered > 0 && answered <= sent, "{outcome}");
        assert_eq!(result.count("ping_us.count"), answered, "{outcome}");
        let answer = Client::connect(serve.address()).get("/truth");
        let truth: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
        assert_eq!((&truth["messages"]["received"], &truth["messages"]["sent"]), (&24.into(), &24.into()));
        let report = |format: &str| {
            let report = ["report", "latest", "--format", format];
            Program::new(PROGRAM).in_folder(harness.place().path()).args(report).run().stdout
        };
        assert!(report("text").contains("messages out 24"), "{}", report("text"));
        assert!(report("csv").contains("hello_p50_us"), "{}", report("csv"));
        assert!(report("html").contains("Messages sent"));
        let second = run(&harness, &text, &format!("--engine {engine}"));
        let ids = [&outcome, &second].map(|outcome| outcome.json()["id"].as_str().expect("an id").to_owned());
        let compare = Program::new(PROGRAM).in_folder(harness.place().path());
        let compared = compare.args(["compare", &ids[0], &ids[1]]).run();
        assert!(compared.stdout.contains("messages"), "{compared}");
    }
}

/// A connection of HTTP/2 greets with its settings, and answers pings between requests.
#[test]
fn http2_is_pinged() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let text = format!(
            "wavetank: 1\ntarget: http://{}\nhttp: {{version: 2, ping: 20ms}}\nsteps: [{{get: /}}, {{think: 100ms}}]\n\
             phases: [{{users: 3, sessions: 12}}]\nthresholds: [p50(ping) < 60s, p50(hello) < 60s]\n",
            serve.address()
        );
        let outcome = run(&RunHarness::new(PROGRAM), &text, &format!("--engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        let (sent, answered) = (result.count("pings.sent"), result.count("pings.answered"));
        assert!(answered > 0 && answered <= sent, "{outcome}");
        assert_eq!((result.count("requests.done"), result.count("hello_us.count")), (12, 3), "{outcome}");
    }
}

/// A server that freezes answers many pings late. All of them count with their time.
#[test]
fn a_freeze_shows_in_pings() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--freeze", "500ms", "--freeze-at", "200ms"]);
        let text = format!(
            "wavetank: 1\ntarget: ws://{}/ws/echo\nws: {{ping: 20ms}}\n\
             steps: [{{ws.send: a, reply: any}}, {{think: 1s}}, {{ws.send: a, reply: any}}]\n\
             phases: [{{users: 1, sessions: 1}}]\n",
            serve.address()
        );
        let outcome = run(&RunHarness::new(PROGRAM), &text, &format!("--engine {engine}"));
        let result = outcome.result();
        // The first ping of the freeze waits for all of it, and each later one for the rest.
        assert!(result.number("ping_us.max") >= 400_000.0, "{outcome}");
        assert!(result.number("ping_us.p75") >= 100_000.0, "{outcome}");
    }
}

#[test]
fn pings_need_a_protocol_that_has_them() {
    let harness = RunHarness::new(PROGRAM);
    let check = |head: &str, expected: &str| {
        let text = format!("wavetank: 1\n{head}\nsteps: [{{get: /}}]\nphases: [{{users: 1, sessions: 1}}]\n");
        let outcome = run(&harness, &text, "");
        outcome.expect_exit(2);
        assert!(outcome.to_string().contains(expected), "{outcome}");
    };
    check("target: http://127.0.0.1:1\nhttp: {ping: 1s}", "needs HTTP/2");
    check("target: http://127.0.0.1:1\nws: {ping: 1s}", "needs a WebSocket");
}

/// A target that does not accept the credentials of a connection is no broken server.
#[test]
fn refused_credentials_have_a_class() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    for (path, class) in [("status/401", "login"), ("status/403", "login"), ("status/404", "status")] {
        for engine in ENGINES {
            let url = format!("ws://{}/{path}", serve.address());
            let words = ["-c", "1", "-n", "3", "--no-probe", "--engine", engine];
            let result = RunHarness::new(PROGRAM).load(&url, words).run().result();
            assert_eq!(result.count(&format!("errors.{class}")), 3, "{path}: {result}");
        }
    }
}
