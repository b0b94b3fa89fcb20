//! Keeping and closing connections, pipelining, and what is no request.

use std::net::Shutdown;

use crate::serve::client::{Client, get, serve};
use wavetank_driver::Clock;
use wavetank_target::ServeOptions;
use wavetank_testkit::{TimingMismatch, expect_time, retry_timing};
use wavetank_units::Nanos;

#[test]
fn the_connection_is_kept_as_the_version_says() {
    let (_server, at) = serve(ServeOptions::default());
    for (request, said, kept) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", None, true),
        ("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", Some("close"), false),
        ("GET / HTTP/1.0\r\n\r\n", Some("close"), false),
        ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Some("keep-alive"), true),
        ("GET /status/404 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", Some("keep-alive"), true),
        ("GET /bytes/100kB HTTP/1.0\r\n\r\n", Some("close"), false),
        ("GET /close HTTP/1.1\r\nHost: x\r\n\r\n", Some("close"), false),
        ("GET /close HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", Some("close"), false),
    ] {
        let mut client = Client::connect(at);
        client.send(request);
        let answer = client.answer();
        assert_eq!(answer.field("connection"), said, "{request}");
        if kept {
            assert_eq!(client.get("/").status, 200, "{request}");
        } else {
            assert_eq!(client.rest(), b"", "{request}");
        }
    }
}

#[test]
fn pipelined_answers_leave_in_one_piece() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    client.send(get("/").repeat(100));
    let all = client.read_once();
    assert_eq!(all.len(), 100 * 114, "one receive, one send");
}

#[test]
fn pipelined_answers_keep_their_order() {
    retry_timing(check_order);
}

fn check_order() -> Result<(), TimingMismatch> {
    let (_server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let clock = Clock::starting_now();
    let mut client = Client::connect(at);
    let paths = [
        "/delay/200ms",
        "/status/201",
        "/delay/100ms",
        "/bytes/300kB",
        "/truth",
        "/delay/300ms",
        "/echo",
        "/close",
    ];
    let begin = clock.now();
    client.send(paths.map(get).concat());
    for path in paths {
        let answer = client.answer();
        let age = clock.now() - begin;
        let (status, len, earliest) = match path {
            "/status/201" => (201, 7, 200),
            "/bytes/300kB" => (200, 300_000, 200),
            "/truth" => (200, answer.body.len(), 200),
            "/echo" => (200, 0, 300),
            "/delay/300ms" | "/close" => (200, 12, 300),
            _ => (200, 12, 200),
        };
        assert_eq!((answer.status, answer.body.len()), (status, len), "{path}");
        assert!(age >= Nanos::from_millis(earliest), "{path} after {age}");
    }
    let all = clock.now() - begin;
    assert_eq!(client.rest(), b"");
    // They slept in parallel: 300 ms and not 600.
    expect_time(all < Nanos::from_millis(550), || format!("{all}"))
}

#[test]
fn requests_may_come_in_any_pieces() {
    let (server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    let request = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello";
    for byte in request.repeat(3).bytes() {
        client.send([byte]);
    }
    for _ in 0..3 {
        assert_eq!(client.answer().body, b"hello");
    }
    assert_eq!(server.truth().requests, 3);
}

#[test]
fn who_half_closes_is_answered() {
    let (server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    client.send([get("/delay/50ms"), get("/bytes/2MB")].concat());
    client.stream.shutdown(Shutdown::Write).expect("connected");
    assert_eq!(client.answer().status, 200);
    assert_eq!(client.answer().body.len(), 2_000_000);
    assert_eq!(client.rest(), b"");
    assert_eq!(server.truth().statuses[&200], 2);
}

#[test]
fn more_than_can_be_owed_ends_in_503() {
    let (_server, at) = serve(ServeOptions::default());
    let mut client = Client::connect(at);
    client.send([get("/delay/40ms"), get("/").repeat(3_000)].concat());
    for _ in 0..999 {
        assert_eq!(client.answer().status, 200);
    }
    assert_eq!(client.answer().status, 503);
    assert_eq!(client.rest(), b"");
}

#[test]
fn what_is_no_request_is_refused() {
    let (server, at) = serve(ServeOptions { threads: Some(1), ..ServeOptions::default() });
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(70_000));
    let cases = [
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (&long, 431),
    ];
    for (request, status) in cases {
        let mut client = Client::connect(at);
        // What follows is not looked at; and an answer before it keeps its place.
        client.send([get("/status/203").as_str(), request, &get("/")].concat());
        assert_eq!(client.answer().status, 203);
        let answer = client.answer();
        assert_eq!((answer.status, answer.field("connection")), (status, Some("close")), "{request:.60}");
        assert!(!answer.body.is_empty());
        assert_eq!(client.rest(), b"");
    }
    let truth = server.truth();
    assert_eq!((truth.bad_requests, truth.requests), (cases.len() as u64, cases.len() as u64));
    assert_eq!(truth.paths.len(), 1, "{:?}", truth.paths);
    // An unknown method is a request, and its body is discarded.
    let mut client = Client::connect(at);
    client.send(
        "BREW / HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nGET ",
    );
    assert_eq!((client.answer().status, client.answer().status), (501, 200));
}
