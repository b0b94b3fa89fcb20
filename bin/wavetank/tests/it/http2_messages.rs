//! WebSocket and event streams over HTTP/2: against `wavetank serve`, through `HAProxy`, and
//! against a server of scripted frames.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use wavetank_testkit::{
    Client, FrameReply, FrameRequest, FrameServer, MessageServer, Outcome, Program, RunHarness, Serve,
    TestDir, frame, free_port, poll_until, skip,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn load(url: &str, words: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    harness.load(url, ["--http", "2", "--no-probe"].into_iter().chain(words.split_whitespace())).run()
}

/// Returns numbers that `serve` has counted.
fn truth<const N: usize>(serve: &Serve, names: [&str; N]) -> [u64; N] {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    names.map(|name| counts.pointer(name).and_then(Value::as_u64).expect("a number"))
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        for (words, requests, streams, connections) in
            [("-c 2 --streams 20 -n 400", 400, 40, 2), ("-c 3 -n 300 --json {\"id\":1}", 300, 3, 3)]
        {
            let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
            let url = format!("ws://{}/ws/echo", serve.address());
            let outcome = load(&url, &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            result.conserved();
            let counts = (result.count("requests.done"), result.count("requests.failed"));
            assert_eq!(counts, (requests, 0), "{words}: {result}");
            assert_eq!(result.count("connections.opened"), streams, "{words}: {result}");
            let names = ["/messages/received", "/messages/sent", "/requests", "/connections/accepted"];
            let seen = truth(&serve, names);
            assert_eq!(seen, [requests, requests, streams, connections], "{words}: {result}");
        }
    }
}

#[test]
fn an_open_model_shares_connections() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let url = format!("ws://{}/ws/echo", serve.address());
    let outcome = load(&url, "-r 1000/s -n 200 --streams 50");
    outcome.expect_exit(0);
    let result = outcome.result();
    result.conserved();
    assert_eq!((result.count("requests.done"), result.count("requests.failed")), (200, 0), "{result}");
    assert_eq!(truth(&serve, ["/messages/received"]), [200], "{result}");
}

#[test]
fn events_arrive_on_streams() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let url = format!("sse://{}/events?rate=2000", serve.address());
        let outcome = load(&url, &format!("-c 2 --streams 5 -n 200 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (200, 0), "{result}");
        let [requests, accepted, sent] =
            truth(&serve, ["/requests", "/connections/accepted", "/messages/sent"]);
        assert_eq!((requests, accepted), (10, 2), "{result}");
        assert!(sent >= 200, "{sent} events sent: {result}");
    }
}

/// A journey that opens, sends, waits and closes, with TLS and compression.
#[test]
fn a_journey_works_over_tls() {
    let serve = Serve::start(&Program::new(PROGRAM), &["--tls"]);
    let text = format!(
        "wavetank: 1\ntarget: wss://{}\nws: {{deflate: true}}\n\
         http: {{version: 2, streams: 4, tls: {{verify: false}}}}\nsteps:\n\
         \x20 - ws.connect: /ws/echo?user=${{user}}\n    check: status = 101\n\
         \x20 - ws.send: {{op: say, text: \"again and again and again\"}}\n    reply: json $.op = say\n\
         \x20 - ws.send: quiet\n  - ws.wait: body contains quiet\n  - ws.close: 1000\n\
         phases: [{{users: 8, sessions: 24}}]\n",
        serve.address()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(0);
    for shown in ["> GET /ws/echo?user=0 HTTP/2", "< WebSocket message", "WebSocket close 1000"] {
        assert!(tried.stdout.contains(shown), "{shown}: {tried}");
    }
    for engine in ENGINES {
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (120, 0), "{result}");
    }
    // The user of `try` closes its connection, and so do 8 users on 2 connections in each run.
    assert_eq!(truth_over_tls(&serve, &harness), 1 + 2 * 24, "upgrades");
}

/// Returns the number of requests that a server with TLS has counted.
fn truth_over_tls(serve: &Serve, harness: &RunHarness) -> u64 {
    let url = format!("https://{}/truth", serve.address());
    let shown = harness.program().args(["run", &url, "--once", "--insecure"]).run();
    let body = shown.stdout.lines().find_map(|line| line.trim_start_matches("  < ").strip_prefix('{'));
    let text = format!("{{{}", body.unwrap_or_else(|| panic!("no counts: {shown}")));
    let counts: Value = serde_json::from_str(&text).expect("/truth is JSON");
    counts["requests"].as_u64().expect("a number")
}

/// Sends `bad` after the first event of each stream. Checks that waits for a second one fail, in
/// `class`. `goes_on`: the connection is kept.
#[track_caller]
fn check_bad(bad: fn(u32) -> Vec<u8>, class: &str, goes_on: bool) {
    for engine in ENGINES {
        let server = FrameServer::start(b"", move |request: FrameRequest| {
            // `content-type: text/event-stream` is a literal with an indexed name.
            let head = [&b"\x88\x0f\x10\x11"[..], b"text/event-stream"].concat();
            let event = [
                frame(HEADERS, END_HEADERS, request.stream, &head),
                frame(DATA, 0, request.stream, b"data: 1\n\n"),
            ];
            FrameReply::Send([event.concat(), bad(request.stream)].concat())
        });
        let url = server.url().replace("http://", "sse://");
        let outcome = load(&url, &format!("-c 1 -n 10 --timeout 2s --engine {engine}"));
        let result = outcome.result();
        result.conserved();
        let [done, failed] = ["done", "failed"].map(|name| result.count(&format!("requests.{name}")));
        assert_eq!((done + failed, failed), (10, result.count(&format!("errors.{class}"))), "{outcome}");
        assert!((1..=5).contains(&failed), "{class}: {outcome}");
        let connections = if goes_on { 1 } else { server.requests() };
        assert_eq!(server.connections(), connections, "{class}: {outcome}");
    }
}

#[test]
fn ends_of_streams_have_their_class() {
    check_bad(|stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 2]), "reset", true);
    check_bad(|stream| frame(DATA, END_STREAM, stream, b""), "closed_early", true);
    check_bad(|_| frame(6, 0, 1, b"12345678"), "protocol", false);
    // GOAWAY names the stream as one that was handled, and then the stream ends.
    let goes_away = |stream: u32| {
        let gone = [stream.to_be_bytes(), [0; 4]].concat();
        [frame(GOAWAY, 0, 0, &gone), frame(DATA, END_STREAM, stream, b"")].concat()
    };
    check_bad(goes_away, "closed_early", false);
}

/// A stream that a server has not touched continues on another connection.
#[test]
fn untouched_streams_move() {
    for engine in ENGINES {
        for goes_away in [false, true] {
            let server = FrameServer::start(b"", move |request: FrameRequest| {
                let stream = request.stream;
                if request.connection == 0 {
                    return FrameReply::Send(if goes_away {
                        frame(GOAWAY, 0, 0, &[0; 8])
                    } else {
                        frame(RST_STREAM, 0, stream, &[0, 0, 0, 7])
                    });
                }
                let head = [&b"\x88\x0f\x10\x11"[..], b"text/event-stream"].concat();
                let events = b"data: 1\n\n".repeat(16);
                let reply =
                    [frame(HEADERS, END_HEADERS, stream, &head), frame(DATA, 0, stream, &events)].concat();
                FrameReply::Send(reply)
            });
            let url = server.url().replace("http://", "sse://");
            let outcome = load(&url, &format!("-c 1 --streams 2 -n 16 --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            assert_eq!((result.count("requests.done"), result.count("requests.failed")), (16, 0), "{result}");
            assert_eq!(server.connections(), 2, "{result}");
        }
    }
}

/// A stream that the server leaves open after our end does not keep its place for ever.
#[test]
fn streams_that_a_server_does_not_end_are_reset() {
    // SETTINGS_ENABLE_CONNECT_PROTOCOL = 1.
    let server = FrameServer::start(&[0, 8, 0, 0, 0, 1], |request: FrameRequest| {
        FrameReply::Send(frame(HEADERS, END_HEADERS, request.stream, &[0x88]))
    });
    let text = format!(
        "wavetank: 1\ntarget: {}\nhttp: {{version: 2, streams: 3}}\nscenarios:\n  s:\n    connection: session\n\
         \x20   steps: [{{ws.connect: /}}, {{ws.send: a, reply: any, timeout: 700ms}}]\n\
         \x20   phases: [{{users: 1, sessions: 6}}]\n",
        server.url().replace("http:", "ws:")
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let outcome = harness.load(&file, ["--no-probe"]).run();
    let result = outcome.result();
    assert_eq!(result.count("errors.request_timeout"), 6, "{outcome}");
    assert_eq!((server.requests(), server.connections()), (6, 1), "{outcome}");
}

#[test]
fn a_server_without_websockets_is_named() {
    let server = FrameServer::start(b"", |_: FrameRequest| FrameReply::Close);
    let url = server.url().replace("http://", "ws://");
    let outcome = load(&url, "-c 1 -n 3");
    outcome.expect_exit(1);
    assert_eq!(outcome.result().count("errors.protocol"), 3, "{outcome}");
    let shown = outcome.to_string();
    assert!(shown.contains("SETTINGS_ENABLE_CONNECT_PROTOCOL"), "{shown}");
}

/// Every 404 of an upgrade is a failed opening, and no wait for a time-out.
#[test]
fn another_path_is_refused() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let outcome = load(&format!("ws://{}/other", serve.address()), "-c 1 -n 3");
    outcome.expect_exit(1);
    assert_eq!(outcome.result().count("errors.status"), 3, "{outcome}");
}

/// `HAProxy` translates RFC 8441 to upgrades of HTTP/1.1.
#[test]
fn haproxy_forwards_websockets() {
    let test = "haproxy_forwards_websockets";
    let Some(program) = Program::foreign("haproxy") else {
        return skip(test, "haproxy is not installed");
    };
    let server = MessageServer::echo();
    let behind = server.url("").replace("ws://", "");
    let (place, port) = (TestDir::new(), free_port());
    let config = format!(
        "global\n nbthread 1\n\
         defaults\n mode http\n timeout connect 5s\n timeout client 10s\n timeout server 10s\n timeout tunnel 10s\n\
         frontend front\n bind 127.0.0.1:{port} proto h2\n default_backend back\n\
         backend back\n server one {behind}\n"
    );
    let file = place.write("config", config);
    let proxy = program.args(["-db", "-f", &file]).start();
    let up = poll_until(Duration::from_mins(1), || {
        let is_dead = proxy.ends_within(Duration::ZERO);
        (is_dead || TcpStream::connect(("127.0.0.1", port)).is_ok()).then_some(!is_dead)
    });
    assert_eq!(up, Some(true), "{}", proxy.stderr());
    for engine in ENGINES {
        let before = server.messages();
        let outcome =
            load(&format!("ws://127.0.0.1:{port}/"), &format!("-c 2 --streams 5 -n 100 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (100, 0), "{result}");
        assert_eq!(server.messages() - before, 100, "{result}");
    }
}
