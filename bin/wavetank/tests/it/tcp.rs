//! Raw TCP: against `wavetank serve --tcp`.

use serde_json::Value;
use wavetank_testkit::{
    Client, Outcome, Program, ReceivedRequest, RunHarness, Script, ScriptAction, Serve, Target,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

fn serve(words: &[&str]) -> Serve {
    Serve::start(&Program::new(PROGRAM), &[&["--tcp", "127.0.0.1:0"], words].concat())
}

fn load(url: &str, words: &str) -> Outcome {
    RunHarness::new(PROGRAM).load(url, words.split_whitespace()).run()
}

fn run(text: &str, engine: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe", "--engine", engine]).run()
}

/// Returns the number of lines that `serve` has received and sent.
fn lines(serve: &Serve) -> (u64, u64) {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    let count = |name: &str| counts["messages"][name].as_u64().expect("a number of lines");
    (count("received"), count("sent"))
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        let serve = serve(&["--engine", engine]);
        let mut expected = 0;
        for (words, requests) in [("-c 3 -n 300", 300), ("-r 2000/s -n 400", 400)] {
            let outcome = load(&serve.tcp_url(), &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count("requests.failed"));
            assert_eq!(counts, (requests, 0), "{words}: {result}");
            expected += requests;
            assert_eq!(lines(&serve), (expected, expected), "{words}: {result}");
        }
    }
}

/// A whole journey, with TLS and without: a greeting, extents of all kinds, bytes that two
/// steps read, and a close.
#[test]
fn a_journey_of_bytes() {
    for (engine, tls) in ENGINES.into_iter().flat_map(|engine| [(engine, false), (engine, true)]) {
        let words: &[&str] =
            if tls { &["--tcp-greeting", "ready", "--tls"] } else { &["--tcp-greeting", "ready"] };
        let serve = serve(words);
        let insecure = if tls { "http: {tls: {verify: false}}\n" } else { "" };
        let text = format!(
            "wavetank: 1\ntarget: {}\n{insecure}steps:\n  - tcp.connect: true\n\
             \x20 - tcp.read: {{until: \"\\r\\n\"}}\n    check: body contains ready\n\
             \x20 - tcp.send: \"user ${{user}}\\r\\n\"\n    read: {{until: \"\\r\\n\"}}\n\
             \x20   check: body contains user\n    extract: {{u: 'regex /user ([0-9]+)/'}}\n\
             \x20 - tcp.send: {{hex: \"0003 616263\"}}\n    read: {{prefix: 2}}\n    check: size = 5B\n\
             \x20 - tcp.send: one-way\n    name: note\n\
             \x20 - tcp.read: {{length: 3B}}\n    check: body = one\n\
             \x20 - tcp.read: {{until_hex: \"79\"}}\n    check: body = -way\n\
             \x20 - tcp.send: x\n    read: any\n  - tcp.close: true\n\
             phases: [{{users: 2, sessions: 20}}]\n",
            serve.tcp_url()
        );
        let outcome = run(&text, engine);
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (180, 0), "{result}");
        assert_eq!(result.count("connections.opened"), 20, "{result}");
        if !tls {
            // The counts of a server with TLS cannot be read without it.
            assert_eq!(lines(&serve), (20, 20), "{result}");
        }
    }
}

/// A target behind a proxy may speak first. Its bytes then come with the response of the proxy.
#[test]
fn a_greeting_may_come_with_the_response_to_connect() {
    let proxy = Target::start(Script::new(|_: &ReceivedRequest| {
        vec![ScriptAction::Send(b"HTTP/1.1 200 OK\r\n\r\nready\r\n".to_vec())]
    }));
    let text = format!(
        "wavetank: 1\ntarget: tcp://127.0.0.1:9\nhttp: {{proxy: \"{}\"}}\nsteps:\n\
         \x20 - tcp.read: {{until: \"\\r\\n\"}}\n    check: body contains ready\n\
         phases: [{{users: 1, sessions: 1}}]\n",
        proxy.url("")
    );
    for engine in ENGINES {
        let outcome = run(&text, engine);
        outcome.expect_exit(0);
        assert_eq!(outcome.result().count("requests.done"), 1, "{outcome}");
    }
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.program().args(["try", &file]).run().expect_exit(0);
}

/// Bytes that arrive before the step that reads them answer it after it was sent.
#[test]
fn an_unread_greeting_is_the_first_answer() {
    for engine in ENGINES {
        let serve = serve(&["--tcp-greeting", "ready"]);
        let outcome = load(&serve.tcp_url(), &format!("-c 3 -n 300 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), lines(&serve).0), (300, 300), "{result}");
    }
}

/// Bytes without an answer are done once they were handed over, and are in no response time.
#[test]
fn one_way_bytes_have_no_response_time() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let text = format!(
            "wavetank: 1\ntarget: {}\nsteps:\n  - tcp.send: \"note\\n\"\n  - think: 1ms\n\
             phases: [{{users: 2, sessions: 100}}]\nthresholds: [done = 100]\n",
            serve.tcp_url()
        );
        let result = run(&text, engine).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert_eq!(result.at("response_us").get("count").and_then(Value::as_u64).unwrap_or(0), 0, "{result}");
    }
}

#[test]
fn one_user_is_shown_every_byte() {
    let serve = serve(&[]);
    let text = format!(
        "wavetank: 1\ntarget: {}\nsteps:\n  - tcp.connect: true\n  - tcp.send: \"ping\\n\"\n    read: {{until: \"\\n\"}}\n\
         \x20 - tcp.close: true\nphases: [{{users: 1, sessions: 1}}]\n",
        serve.tcp_url()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(0);
    for shown in ["> TCP connect", "> TCP bytes", "< TCP bytes", "ping", "> TCP close"] {
        assert!(tried.stdout.contains(shown), "{shown}: {tried}");
    }
}

#[test]
fn failures_have_their_class() {
    for engine in ENGINES {
        let serve = serve(&[]);
        let check = |steps: &str, class: &str, count: u64| {
            let text = format!(
                "wavetank: 1\ntarget: {}\nhttp: {{body_max: 100B}}\nsteps:\n{steps}\
                 phases: [{{users: 1, sessions: 2}}]\n",
                serve.tcp_url()
            );
            let outcome = run(&text, engine);
            let result = outcome.result();
            result.conserved();
            assert_eq!(result.count(&format!("errors.{class}")), count, "{class}: {outcome}");
        };
        // No answer in time: after bytes the connection is closed.
        check("  - tcp.send: abc\n    read: {until: \"\\n\"}\n    timeout: 50ms\n", "request_timeout", 2);
        check("  - tcp.read: any\n    timeout: 50ms\n", "request_timeout", 2);
        // An answer above the limit.
        let long = "x".repeat(200);
        check(&format!("  - tcp.send: {long}\n    read: {{until: \"\\n\"}}\n"), "body_limit", 2);
        check("  - tcp.send: {hex: \"ffffffff\"}\n    read: {prefix: 4}\n", "body_limit", 2);
        // Bytes without a connection.
        check("  - tcp.send: a\n  - tcp.connect: true\n", "closed_early", 1);
    }
}

#[test]
fn a_freeze_shows() {
    for engine in ENGINES {
        let serve = serve(&["--freeze", "500ms", "--freeze-at", "200ms"]);
        let result = load(&serve.tcp_url(), &format!("-r 100/s -d 1s --engine {engine}")).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert!(result.number("response_us.max") >= 400_000.0, "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &[&str], message: &str| {
        let outcome = Program::new(PROGRAM).args(["run"]).args(words.iter().copied()).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check(&["tcp://127.0.0.1"], "has no port");
    check(&["tcp://127.0.0.1:1/path"], "has a path");
    check(&["tcp://127.0.0.1:1", "--http", "2"], "HTTP/1.1");
    check(&["tcp://127.0.0.1:1", "-X", "GET"], "no methods");
    check(&["tcp://127.0.0.1:1", "--body", "no line end"], "no line end");
}
