//! Connections that users share, keep or replace, with other protocols than HTTP/1.1.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use wavetank_testkit::frame_server::{FrameReply, FrameRequest, FrameServer, frame, frame_of_ok};
use wavetank_testkit::{Outcome, Program, RunHarness, Serve, poll_until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];
/// The type of PING frames.
const PING: u8 = 6;

fn run(text: &str, engine: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    harness.load(&file, ["--no-probe", "--engine", engine]).run()
}

/// Returns the requests that a server has counted.
fn requests(serve: &Serve) -> u64 {
    let answer = wavetank_testkit::Client::connect(serve.address()).get("/truth");
    let counts: serde_json::Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    counts["requests"].as_u64().expect("a count")
}

/// Users that share a connection would reach only the first one's server.
#[test]
fn users_of_several_targets_reach_theirs() {
    for (engine, http) in ENGINES
        .into_iter()
        .flat_map(|engine| [(engine, "{version: 2, streams: 4}"), (engine, "{pipeline: 4}")])
    {
        let serves = [(); 2].map(|()| Serve::start(&Program::new(PROGRAM), &[]));
        let [one, other] = &serves;
        let text = format!(
            "wavetank: 1\ntargets: {{a: [{}, {}]}}\nhttp: {http}\nsteps: [{{get: /}}]\n\
             phases: [{{users: 8, sessions: 80}}]\n",
            one.url(""),
            other.url("")
        );
        let outcome = run(&text, engine);
        outcome.expect_exit(0);
        let counts = serves.each_ref().map(requests);
        assert!(counts.iter().sum::<u64>() == 80 && counts.iter().all(|count| *count > 8), "{counts:?}");
    }
}

/// A server may allow fewer streams than the plan. Requests that find no room open connections.
#[test]
fn few_streams_make_more_connections() {
    const REQUESTS: u64 = 16;
    for engine in ENGINES {
        let arrived = AtomicU64::new(0);
        // SETTINGS_MAX_CONCURRENT_STREAMS = 2. No request is answered before all have arrived.
        let server = FrameServer::start(&[0, 3, 0, 0, 0, 2], move |request: FrameRequest| {
            arrived.fetch_add(1, Ordering::SeqCst);
            if request.stream == 1 {
                return FrameReply::Send(Vec::new());
            }
            let all = || (arrived.load(Ordering::SeqCst) == REQUESTS).then_some(());
            let is_whole = poll_until(Duration::from_mins(1), all).is_some();
            FrameReply::Send(if is_whole { [1, 3].map(frame_of_ok).concat() } else { Vec::new() })
        });
        let words = "-r 100000/s -n 16 --http 2 --streams 8 --timeout 60s --no-probe --engine";
        let words = words.split(' ').chain([engine]);
        let outcome = RunHarness::new(PROGRAM).load(&server.url(), words).run();
        assert_eq!(outcome.result().count("requests.done"), REQUESTS, "{outcome}");
        assert_eq!((server.requests(), server.connections()), (REQUESTS, 8), "{outcome}");
    }
}

/// What was left to send on a connection is not sent on the next one of its user.
#[test]
fn a_new_connection_begins_with_the_preface() {
    for engine in ENGINES {
        let server = FrameServer::start(b"", |request: FrameRequest| {
            FrameReply::Send([frame(PING, 0, 0, &[7; 8]), frame_of_ok(request.stream)].concat())
        });
        let text = format!(
            "wavetank: 1\ntarget: {}\nhttp: {{version: 2}}\n\
             scenarios: {{s: {{connection: session, steps: [{{get: /}}], phases: [{{users: 1, sessions: 20}}]}}}}\n",
            server.url()
        );
        let outcome = run(&text, engine);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (20, 0), "{outcome}");
        assert_eq!((server.connections(), server.requests()), (20, 20), "{outcome}");
    }
}

/// A connection for each request, where requests are messages.
#[test]
fn a_connection_may_be_for_one_message() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--tcp", "127.0.0.1:0"]);
        let web_socket = serve.url("/ws/echo").replace("http:", "ws:");
        let steps = [
            (web_socket, "[{ws.send: a, reply: any}, {ws.send: b, reply: any}]"),
            (
                serve.tcp_url(),
                "[{tcp.send: \"a\\n\", read: {until: \"\\n\"}}, {tcp.send: \"b\\n\", read: {until: \"\\n\"}}]",
            ),
        ];
        for (url, steps) in steps {
            let text = format!(
                "wavetank: 1\ntarget: {url}\nhttp: {{timeout: 20s}}\n\
                 scenarios: {{s: {{connection: request, steps: {steps}, phases: [{{users: 1, sessions: 3}}]}}}}\n"
            );
            let outcome = run(&text, engine);
            let result = outcome.result();
            assert_eq!((result.count("requests.done"), result.count("requests.failed")), (6, 0), "{outcome}");
            assert_eq!(result.count("connections.opened"), 6, "{outcome}");
        }
    }
}

/// A read up to the end of a connection has all its bytes.
#[test]
fn a_read_up_to_the_close_has_a_body() {
    for engine in ENGINES {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let address = listener.local_addr().expect("it is bound");
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let mut asked = [0; 3];
                let _ = stream.read_exact(&mut asked).and_then(|()| stream.write_all(b"hello"));
            }
        });
        let text = format!(
            "wavetank: 1\ntarget: tcp://{address}\nsteps:\n  - tcp.connect: true\n  - tcp.send: ask\n\
             \x20 - tcp.read: close\n    check: body = hello\nphases: [{{users: 1, sessions: 3}}]\n"
        );
        let outcome = run(&text, engine);
        outcome.expect_exit(0);
        assert_eq!(outcome.result().count("requests.done"), 9, "{outcome}");
    }
}

/// The end of a call has the messages that no step has read, also if no step waits for any.
#[test]
fn the_end_of_a_call_has_its_messages() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &[]);
        let text = format!(
            "wavetank: 1\ntarget: {}\ngrpc: {{reflection: true}}\nsteps:\n  - grpc.open: wavetank.echo.v1.Echo/Chat\n\
             \x20 - grpc.send: {{text: a}}\n  - think: 100ms\n  - grpc.end: true\n\
             \x20   check: 'json $[0].text = a'\nphases: [{{users: 1, sessions: 3}}]\n",
            serve.url("").replace("http:", "grpc:")
        );
        let outcome = run(&text, engine);
        outcome.expect_exit(0);
    }
}
