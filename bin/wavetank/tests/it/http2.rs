//! HTTP/2: against `wavetank serve`, nginx and nghttpd, and against a server of scripted frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use wavetank_testkit::{
    Client, FrameReply, FrameRequest, FrameServer, Nginx, Outcome, Program, RunHarness, Script, Serve,
    Target, TestDir, frame, frame_of_ok, free_port, poll_until, skip,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_wavetank");
const ENGINES: [&str; 2] = ["epoll", "auto"];

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const GOAWAY: u8 = 7;
/// `END_STREAM` and `END_HEADERS`.
const WHOLE: u8 = 5;

fn load(url: &str, words: &str) -> Outcome {
    let harness = RunHarness::new(PROGRAM);
    harness.load(url, ["--http", "2", "--no-probe"].into_iter().chain(words.split_whitespace())).run()
}

/// Returns the requests that the server has counted.
fn truth(serve: &Serve) -> u64 {
    let answer = Client::connect(serve.address()).get("/truth");
    let counts: Value = serde_json::from_slice(&answer.body).expect("/truth is JSON");
    counts["requests"].as_u64().expect("a number of requests")
}

#[test]
fn counts_are_those_of_the_server() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--engine", engine]);
        let mut expected = 0;
        for words in [
            "-c 3 -n 300",
            "-c 3 --streams 20 -n 3000",
            "-r 2000/s -n 400 --streams 4",
            "-c 2 -n 20 --no-keepalive",
        ] {
            let outcome = load(&serve.url("/bytes/2000"), &format!("{words} --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            let wanted = words.split_once("-n ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
            result.conserved();
            assert_eq!(Some(result.count("requests.done")), wanted, "{words}: {result}");
            expected += wanted.unwrap_or(0);
            assert_eq!(truth(&serve), expected, "{words}: {result}");
        }
    }
}

#[test]
fn tls_agrees_on_it() {
    let serve = Serve::start(&Program::new(PROGRAM), &["--tls"]);
    let url = format!("https://{}/", serve.address());
    for engine in ENGINES {
        let outcome = load(&url, &format!("--insecure -c 2 --streams 8 -n 200 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (200, 0), "{result}");
    }
    let once =
        RunHarness::new(PROGRAM).program().args(["run", &url, "--once", "--http", "2", "--insecure"]).run();
    once.expect_exit(0);
    assert!(once.stdout.contains("> GET / HTTP/2") && once.stdout.contains("< HTTP/2 200"), "{once}");
}

/// nginx closes each connection after 100 requests, and those that it did not handle move on.
#[test]
fn nginx_ends_connections_without_failures() {
    let server = "listen LISTEN http2; keepalive_requests 100; location / { return 200 fine; }";
    let log = "$server_protocol $request_uri";
    let Some(nginx) = Nginx::start("nginx_ends_connections_without_failures", TestDir::new(), log, server)
    else {
        return;
    };
    for engine in ENGINES {
        nginx.forget();
        let url = format!("http://{}/x", nginx.address());
        let outcome = load(&url, &format!("-c 4 --streams 8 -n 2000 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (2000, 0), "{result}");
        assert!(result.count("connections.opened") >= 20, "{result}");
        let lines = nginx.log(2000);
        assert!(lines.iter().all(|seen| seen == "HTTP/2.0 /x"), "{:?}", lines.first());
    }
}

#[test]
fn nghttpd_indexes_its_headers() {
    let Some(program) = Program::foreign("nghttpd") else {
        return skip("nghttpd_indexes_its_headers", "nghttpd is not installed");
    };
    let (place, port) = (TestDir::new(), free_port());
    place.write("file", "x".repeat(100_000));
    let folder = place.path().display().to_string();
    let server = program.args(["--no-tls", "-a", "127.0.0.1", "-d", &folder, &port.to_string()]).start();
    let up = poll_until(std::time::Duration::from_mins(1), || {
        std::net::TcpStream::connect(("127.0.0.1", port)).ok()
    });
    assert!(up.is_some(), "nghttpd does not start: {}", server.stderr());
    for engine in ENGINES {
        let url = format!("http://127.0.0.1:{port}/file");
        let outcome = load(&url, &format!("-c 2 --streams 10 -n 300 --engine {engine}"));
        outcome.expect_exit(0);
        let result = outcome.result();
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (300, 0), "{result}");
        assert!(result.count("bytes.received") > 30_000_000, "{result}");
    }
}

/// Sends the reply of `bad` to every third request, and 200 to all others. Checks that only those
/// fail, in `class`. `goes_on`: the connection is kept.
#[track_caller]
fn check_bad(bad: fn(u32) -> Vec<u8>, class: &str, goes_on: bool) {
    for engine in ENGINES {
        let server = FrameServer::start(b"", move |request: FrameRequest| {
            FrameReply::Send(if request.number % 3 == 2 {
                bad(request.stream)
            } else {
                frame_of_ok(request.stream)
            })
        });
        let outcome = load(&server.url(), &format!("-c 1 -n 30 --engine {engine}"));
        let result = outcome.result();
        result.conserved();
        let counts = (result.count("requests.done"), result.count(&format!("errors.{class}")));
        assert_eq!(counts, (20, 10), "{class}: {outcome}");
        assert_eq!(server.requests(), 30, "{outcome}");
        assert_eq!(server.connections(), if goes_on { 1 } else { 10 }, "{class}: {outcome}");
    }
}

#[test]
fn bad_streams_fail_alone() {
    check_bad(|stream| frame(RST_STREAM, 0, stream, &[0, 0, 0, 2]), "reset", true);
    check_bad(|stream| frame(HEADERS, WHOLE, stream, b"\x00\x01x\x01y"), "protocol", true);
    check_bad(|stream| frame(HEADERS, WHOLE, stream, b"\x88\x0f\x0d\x015"), "protocol", true);
    check_bad(|stream| frame(HEADERS, WHOLE, stream, &[0x8c]), "status", true);
}

#[test]
fn bad_frames_end_the_connection() {
    check_bad(|stream| frame(HEADERS, WHOLE, stream, &[0xff; 8]), "protocol", false);
    check_bad(|stream| frame(HEADERS, WHOLE, stream + 2, &[0x88]), "protocol", false);
    check_bad(|_| frame(6, 0, 1, b"12345678"), "protocol", false);
    check_bad(|_| frame(8, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), "protocol", false);
    check_bad(|_| frame(5, 4, 1, &[0, 0, 0, 2, 0x82]), "protocol", false);
    check_bad(|_| vec![0xff; 9], "protocol", false);
    check_bad(|_| frame(6, 0, 0, b"12345678").repeat(10_001), "protocol", false);
    // A flood of settings, one of empty data, and a header block that never ends.
    check_bad(|_| frame(4, 0, 0, &[]).repeat(10_001), "protocol", false);
    check_bad(
        |stream| [frame(HEADERS, 4, stream, &[0x88]), frame(0, 0, stream, b"").repeat(10_001)].concat(),
        "protocol",
        false,
    );
    check_bad(
        |stream| [frame(HEADERS, 0, stream, &[0x88]), frame(9, 0, stream, b"").repeat(40)].concat(),
        "protocol",
        false,
    );
}

/// A connection that ends inside a response fails that request; the others go on elsewhere.
#[test]
fn a_cut_response_fails() {
    for engine in ENGINES {
        let server = FrameServer::start(b"", |request: FrameRequest| {
            let half = [frame(HEADERS, 4, request.stream, &[0x88]), frame(0, 0, request.stream, b"half")];
            if request.number % 3 == 2 {
                FrameReply::SendAndClose(half.concat())
            } else {
                FrameReply::Send(frame_of_ok(request.stream))
            }
        });
        let outcome = load(&server.url(), &format!("-c 1 -n 30 --engine {engine}"));
        let result = outcome.result();
        result.conserved();
        let counts = (result.count("requests.done"), result.count("errors.closed_early"));
        assert_eq!((counts, server.requests()), ((20, 10), 30), "{outcome}");
    }
}

/// Requests that were due while the server did not answer have waited since then.
#[test]
fn a_freeze_is_in_the_response_time() {
    for engine in ENGINES {
        let serve = Serve::start(&Program::new(PROGRAM), &["--freeze", "600ms", "--freeze-at", "300ms"]);
        let words = format!("-c 1 --streams 100 -r 100/s -d 1500ms --engine {engine}");
        let result = load(&serve.url("/"), &words).result();
        result.conserved();
        assert_eq!((result.count("requests.done"), truth(&serve)), (150, 150), "{result}");
        let longest = result.time("response_us.max");
        // The first request after the start of the freeze was due 10 ms later at most.
        assert!(longest >= std::time::Duration::from_millis(585), "{result}");
        // The longest tenth are 15 requests, which were due in the first 150 ms of the freeze.
        let upper = result.time("response_us.p90");
        assert!(upper >= std::time::Duration::from_millis(440), "{result}");
    }
}

/// A server may refuse a stream, or close the connection before it handles a request. The request
/// is sent again, and nothing fails.
#[test]
fn untouched_requests_are_sent_again() {
    for engine in ENGINES {
        let refusing = FrameServer::start(b"", |request: FrameRequest| {
            let refused = frame(RST_STREAM, 0, request.stream, &[0, 0, 0, 7]);
            FrameReply::Send(if request.number % 10 == 9 { refused } else { frame_of_ok(request.stream) })
        });
        let parting = FrameServer::start(b"", |request: FrameRequest| {
            let last = request.stream.saturating_sub(2).to_be_bytes();
            let goaway = frame(GOAWAY, 0, 0, &[&last[..], &[0; 4]].concat());
            if request.number % 10 == 9 {
                FrameReply::SendAndClose(goaway)
            } else {
                FrameReply::Send(frame_of_ok(request.stream))
            }
        });
        for server in [refusing, parting] {
            let outcome = load(&server.url(), &format!("-c 1 -n 50 --engine {engine}"));
            outcome.expect_exit(0);
            let result = outcome.result();
            assert_eq!(
                (result.count("requests.done"), result.count("requests.failed")),
                (50, 0),
                "{outcome}"
            );
            assert_eq!((server.requests(), result.count("wire.retried")), (55, 5), "{outcome}");
            assert_eq!(server.connections(), 6, "{outcome}");
        }
    }
}

/// A connection that the server closes soon does not keep its place in the pool until its last
/// response has arrived.
#[test]
fn the_place_of_a_parting_connection_is_free() {
    for engine in ENGINES {
        let server = FrameServer::start(b"", |request: FrameRequest| {
            let last = [&request.stream.to_be_bytes()[..], &[0; 4]].concat();
            let is_first = request.number == 0;
            FrameReply::Send(if is_first { frame(GOAWAY, 0, 0, &last) } else { frame_of_ok(request.stream) })
        });
        let words = format!("-c 1 --streams 4 -r 50/s -d 1s --timeout 5s --engine {engine}");
        let result = load(&server.url(), &words).result();
        result.conserved();
        assert_eq!(result.count("errors.request_timeout"), 1, "{result}");
        assert_eq!((result.count("requests.done"), server.connections()), (49, 2), "{result}");
        // Most of them would have waited for the timeout of the first one.
        assert!(result.time("response_us.p50") < std::time::Duration::from_secs(1), "{result}");
    }
}

/// A request that times out does not end the connection that others use.
#[test]
fn a_timeout_resets_its_stream_only() {
    for engine in ENGINES {
        let server = FrameServer::start(b"", |request: FrameRequest| {
            let is_silent = request.number == 3;
            FrameReply::Send(if is_silent { Vec::new() } else { frame_of_ok(request.stream) })
        });
        let words = format!("-c 1 --streams 4 -r 50/s -d 1s --timeout 300ms --engine {engine}");
        let result = load(&server.url(), &words).result();
        result.conserved();
        assert_eq!(result.count("errors.request_timeout"), 1, "{result}");
        assert_eq!((result.count("requests.done"), server.connections()), (49, 1), "{result}");
    }
}

/// The peer's limit of streams holds, whatever `--streams` says, and is used up. The server answers
/// two requests together; a third one, sent before that, would have left together with them.
#[test]
fn the_limit_of_the_server_is_kept() {
    // SETTINGS_MAX_CONCURRENT_STREAMS
    const TWO: &[u8] = &[0, 3, 0, 0, 0, 2];
    for engine in ENGINES {
        let exceeded = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&exceeded);
        let server = FrameServer::start(TWO, move |request: FrameRequest| {
            if request.number.is_multiple_of(2) {
                return FrameReply::Send(Vec::new());
            }
            counted.fetch_add(u64::from(request.has_more), Ordering::SeqCst);
            FrameReply::Send([frame_of_ok(request.stream - 2), frame_of_ok(request.stream)].concat())
        });
        let outcome = load(&server.url(), &format!("-c 1 --streams 8 -n 64 --engine {engine}"));
        outcome.expect_exit(0);
        assert_eq!(outcome.result().count("requests.done"), 64, "{outcome}");
        assert_eq!(exceeded.load(Ordering::SeqCst), 0, "a third stream before the answers");
        assert_eq!(server.connections(), 1, "{outcome}");
    }
}

#[test]
fn servers_of_another_version_are_named() {
    let target = Target::start(Script::constant(std::time::Duration::ZERO));
    let harness = RunHarness::new(PROGRAM);
    let outcome = harness.load(&target.url("/"), ["--http", "2", "-n", "1"]).run();
    assert!(
        outcome.stdout.contains("the server closed the connection instead of speaking HTTP/2"),
        "{outcome}"
    );
    let closing = FrameServer::start(b"", |_| FrameReply::Close);
    let result = load(&closing.url(), "-c 1 -n 2").result();
    assert_eq!(result.count("requests.failed"), 2, "{result}");
}

/// Cookies, redirects and extraction are those of HTTP/1.
#[test]
fn journeys_work_unchanged() {
    let serve = Serve::start(&Program::new(PROGRAM), &[]);
    let text = format!(
        "wavetank: 1\ntarget: http://{}\nhttp: {{version: 2, streams: 3, follow: 2, cookies: true}}\nsteps:\n\
         \x20 - get: /status/302\n    check: body contains Wavetank\n\
         \x20 - post: /echo\n    json: {{id: abc-1}}\n    extract: {{id: 'json $.id'}}\n\
         \x20 - get: /echo?${{id}}\n    body: \"${{id}}\"\n    check: body contains abc-1\n\
         phases: [{{users: 3, for: 60s, sessions: 12}}]\n",
        serve.address()
    );
    let harness = RunHarness::new(PROGRAM);
    let file = harness.place().write("x.yaml", text);
    let tried = harness.program().args(["try", &file]).run();
    tried.expect_exit(0);
    for engine in ENGINES {
        let outcome = harness.load(&file, ["--no-probe", "--engine", engine]).run();
        outcome.expect_exit(0);
        let result = outcome.result();
        result.conserved();
        // Three requests in each of twelve sessions.
        assert_eq!((result.count("requests.done"), result.count("requests.failed")), (36, 0), "{result}");
    }
}

#[test]
fn conflicts_are_explained() {
    let check = |words: &str, message: &str| {
        let words = words.split_whitespace();
        let outcome = Program::new(PROGRAM).args(["run", "http://127.0.0.1:1"]).args(words).run();
        outcome.expect_exit(2);
        assert!(outcome.stderr.contains(message), "{outcome}");
    };
    check("--http 2 --pipeline 4", "--streams");
    check("--streams 4", "--http 2");
    check("--http 2 --streams 4 --no-keepalive", "exclude each other");
    check("--http 2 --streams 9999", "out of range");
    check("--http 2 --proxy http://127.0.0.1:2", "proxy");
}
