//! A client and a server, and either of them with bytes that are cut, changed or wrong.

use super::records::{self, RecordKind};
use super::{Client, Server};
use crate::h1::{Limits, RequestEnd, RequestHead, ResponseEnd, ResponseHead};
use crate::h2::{ClientSink, Fault, ServerSink, StreamFailure};

/// What a client has read, one line for each event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read(pub(super) Vec<String>);

impl ClientSink<u32> for Read {
    fn began(&mut self, _: &mut u32) -> bool {
        true
    }

    fn head(&mut self, tag: &mut u32, head: &ResponseHead<'_>) {
        self.0.push(format!("{tag} head {}", String::from_utf8_lossy(head.raw).trim_end()));
    }

    fn trailers(&mut self, tag: &mut u32, lines: &[u8]) {
        self.0.push(format!("{tag} trailers {}", String::from_utf8_lossy(lines).trim_end()));
    }

    fn body(&mut self, tag: &mut u32, bytes: &[u8]) {
        let body = format!("{tag} body ");
        // How the body is cut has no meaning.
        if self.0.last().is_none_or(|last| !last.starts_with(&body)) {
            self.0.push(body);
        }
        if let Some(last) = self.0.last_mut() {
            last.push_str(&String::from_utf8_lossy(bytes));
        }
    }

    fn answered(&mut self, tag: u32, end: ResponseEnd) {
        self.0.push(format!("{tag} answered {} {}", end.status, end.body_bytes));
    }

    fn failed(&mut self, tag: u32, failure: StreamFailure) {
        self.0.push(format!("{tag} failed {failure:?}"));
    }
}

/// What a server has read, and the streams to answer.
#[derive(Debug, Default)]
struct Asked {
    lines: Vec<String>,
    complete: Vec<u32>,
}

impl ServerSink for Asked {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        self.lines.push(format!("{stream} {}", String::from_utf8_lossy(head.raw).trim_end()));
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.lines.push(format!("{stream} body {}", String::from_utf8_lossy(bytes)));
    }

    fn request(&mut self, stream: u32, _: RequestEnd) {
        self.complete.push(stream);
    }

    fn cancelled(&mut self, stream: u32) {
        self.lines.push(format!("{stream} cancelled"));
    }

    fn rejected(&mut self, stream: u32) {
        self.lines.push(format!("{stream} rejected"));
    }
}

pub(super) fn client(requests: &[&str]) -> Client<u32> {
    let mut client = Client::new(Limits::default());
    for (tag, text) in (0..).zip(requests) {
        client.request(tag, text.as_bytes()).expect("a request");
    }
    client
}

/// Cuts each record of bytes into records of at most this many.
pub(super) fn cut(input: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for record in records::read(input) {
        let is_code = !matches!(record.kind, RecordKind::Data | RecordKind::End);
        if is_code || record.bytes.len() <= bytes_max {
            records::push(&mut out, record.stream, record.kind, record.bytes);
            continue;
        }
        let pieces = record.bytes.len().div_ceil(bytes_max);
        for (at, piece) in record.bytes.chunks(bytes_max).enumerate() {
            let kind = if at + 1 == pieces { record.kind } else { RecordKind::Data };
            records::push(&mut out, record.stream, kind, piece);
        }
    }
    out
}

pub(super) const GET: &str = "GET /a?b=1 HTTP/3\r\nHost: x.test\r\nUser-Agent: w\r\nX-Own: 1\r\n\r\n";
const POST: &str = "POST /echo HTTP/3\r\nHost: x.test\r\nContent-Length: 4\r\n\r\nbody";

/// Both sides, with records cut into all lengths.
#[test]
fn requests_are_answered() {
    for bytes_max in [usize::MAX, 1, 2, 3, 7] {
        let mut client = client(&[GET, POST]);
        let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
        server.read(&cut(client.out(), bytes_max), &mut asked).expect("a good client");
        client.out().clear();
        let heads: Vec<_> = asked.lines.iter().filter(|line| line.contains("HTTP/3")).collect();
        assert_eq!(
            heads,
            [
                "0 GET /a?b=1 HTTP/3\r\nhost: x.test\r\nuser-agent: w\r\nx-own: 1",
                "4 POST /echo HTTP/3\r\nhost: x.test\r\ncontent-length: 4",
            ]
        );
        assert_eq!(asked.complete, [0, 4]);
        server.respond(4, b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nback", b"xy", 2);
        server.respond_continue(0);
        server.respond_with_trailers(0, b"HTTP/1.1 404 Not Found\r\nx: y\r\n\r\nz", b"t: u\r\n".to_vec());
        server.part();
        let mut read = Read::default();
        client.read(&cut(server.out(), bytes_max), &mut read).expect("a good server");
        let expected = [
            "1 head HTTP/3 200\r\ncontent-length: 6",
            "1 body backxy",
            "1 answered 200 6",
            "0 head HTTP/3 404\r\nx: y",
            "0 body z",
            "0 trailers t: u",
            "0 answered 404 1",
        ];
        assert_eq!(read.0, expected, "pieces of {bytes_max}");
        assert!(client.is_parting() && client.room() == 0 && client.in_flight() == 0);
        assert_eq!(server.in_use(), 0);
    }
}

/// Streams arrive out of order where a datagram was lost (RFC 9000 §2.1).
#[test]
fn requests_in_any_order_are_answered() {
    let mut client = client(&[GET, POST, GET, GET]);
    let records: Vec<_> = records::read(client.out()).collect();
    let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
    let mut out = Vec::new();
    for stream in [2, 8, 4, 12, 0] {
        records.iter().filter(|record| record.stream == stream).for_each(|record| {
            records::push(&mut out, stream, record.kind, record.bytes);
        });
    }
    server.read(&out, &mut asked).expect("a good client");
    assert_eq!(asked.complete, [8, 4, 12, 0], "none is left out");
    assert_eq!(server.in_use(), 4);
}

#[test]
fn resets_are_reported() {
    for (code, expected) in [(0x10b, "0 failed Refused"), (0x102, "0 failed Reset(ErrorCode(258))")] {
        let (mut client, mut read) = (client(&[GET]), Read::default());
        let mut out = Vec::new();
        records::push_code(&mut out, 0, RecordKind::Reset, code);
        client.read(&out, &mut read).expect("a good server");
        assert_eq!(read.0, [expected]);
    }
}

/// A server in its shutdown leaves out the requests after the last one it names.
#[test]
fn goaway_returns_later_requests() {
    let mut client = client(&[GET, GET, GET]);
    let mut out = Vec::new();
    records::push(&mut out, 3, RecordKind::Data, &[0, 4, 0, 7, 1, 4]);
    let mut read = Read::default();
    client.read(&out, &mut read).expect("a good server");
    assert_eq!(read.0, ["2 failed GoneAway(ErrorCode(256))", "1 failed GoneAway(ErrorCode(256))"]);
    assert_eq!((client.in_flight(), client.room()), (1, 0));
}

/// A server in its shutdown reads on, finishes what it has begun, and refuses what comes later.
#[test]
fn a_parting_server_finishes_streams() {
    let client = &mut client(&[POST, GET, POST, GET, GET]);
    let records: Vec<_> = records::read(client.out()).collect();
    let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
    let mut feed = |server: &mut Server, stream: u64, kind, bytes: &[u8]| {
        let mut out = Vec::new();
        records::push(&mut out, stream, kind, bytes);
        server.read(&out, &mut asked).expect("a good client");
    };
    let of = |stream| records.iter().find(|record| record.stream == stream).expect("it was asked").bytes;
    let (start, rest) = of(8).split_at(of(8).len() - 3);
    // Stream 0 is late, and stream 12 is the first one that GOAWAY leaves out.
    feed(&mut server, 4, RecordKind::End, of(4));
    feed(&mut server, 8, RecordKind::Data, start);
    server.respond(4, b"HTTP/1.1 200 OK\r\n\r\n", b"", 0);
    server.part();
    server.out().clear();
    feed(&mut server, 16, RecordKind::End, of(16));
    feed(&mut server, 12, RecordKind::End, of(12));
    let refusals: Vec<_> =
        records::read(server.out()).map(|record| (record.stream, record.kind, record.code())).collect();
    let refused = |stream| [RecordKind::Reset, RecordKind::Stop].map(|kind| (stream, kind, 0x10b));
    assert_eq!(refusals, [refused(16), refused(12)].concat());
    assert_eq!(server.in_use(), 2, "streams 0 and 8");
    feed(&mut server, 0, RecordKind::End, of(0));
    feed(&mut server, 8, RecordKind::End, rest);
    assert_eq!(asked.complete, [4, 0, 8]);
    for stream in [0, 8] {
        server.respond(stream, b"HTTP/1.1 200 OK\r\n\r\n", b"", 0);
    }
    assert_eq!(server.in_use(), 0);
}

/// A request that ends early ends in both directions, or it would keep its place in QUIC.
#[test]
fn early_ends_are_ends_of_the_request() {
    let check = |stream: u64, kind, bytes: &[u8], expected: &[(u64, RecordKind, u64)]| {
        let (mut client, mut out) = (client(&[GET, GET]), Vec::new());
        client.out().clear();
        records::push(&mut out, stream, kind, bytes);
        client.read(&out, &mut Read::default()).expect("the connection goes on");
        let sent: Vec<_> =
            records::read(client.out()).map(|record| (record.stream, record.kind, record.code())).collect();
        assert_eq!(sent, expected);
    };
    let (reset, stop) = (RecordKind::Reset, RecordKind::Stop);
    check(3, RecordKind::Data, &[0, 4, 0, 7, 1, 4], &[(4, reset, 0x10c), (4, stop, 0x10c)]);
    check(0, reset, &0x102_u64.to_le_bytes(), &[(0, reset, 0x10c)]);
    // A head that has no status.
    check(0, RecordKind::Data, &[1, 2, 0, 0], &[(0, reset, 0x10e), (0, stop, 0x10e)]);
    check(0, stop, &0x100_u64.to_le_bytes(), &[]);
}

#[test]
fn a_cancelled_request_is_forgotten() {
    let mut client = client(&[GET]);
    let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
    server.read(client.out(), &mut asked).expect("a good client");
    client.out().clear();
    let mut over = Vec::new();
    client.cancel(|_| true, |tag, has_begun| over.push((tag, has_begun)));
    assert_eq!(over, [(0, false)]);
    server.read(client.out(), &mut asked).expect("a good client");
    assert_eq!(asked.lines.last().map(String::as_str), Some("0 cancelled"));
    server.out().clear();
    server.respond(0, b"HTTP/1.1 200 OK\r\n\r\n", b"", 0);
    assert!(server.out().is_empty());
    let (mut read, mut late) = (Read::default(), Vec::new());
    records::push(&mut late, 0, RecordKind::Data, &[0, 0, 0]);
    client.read(&late, &mut read).expect("late bytes are ignored");
    assert!(read.0.is_empty());
}

/// A request that its client resets ends in both directions, or it would keep its place in QUIC.
#[test]
fn a_reset_request_is_reset() {
    let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
    server.out().clear();
    let mut out = Vec::new();
    records::push(&mut out, 0, RecordKind::Data, &[0]);
    records::push_code(&mut out, 0, RecordKind::Reset, 0x10c);
    server.read(&out, &mut asked).expect("a client may change its mind");
    let kinds: Vec<_> = records::read(server.out()).map(|record| (record.stream, record.kind)).collect();
    assert_eq!((&kinds[..], server.in_use()), (&[(0, RecordKind::Reset), (0, RecordKind::Stop)][..], 0));
}

/// A stream that its client does not read keeps back no other, and little of it is written.
#[test]
fn blocked_streams_wait_alone() {
    let mut client = client(&[GET, GET]);
    let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
    server.read(client.out(), &mut asked).expect("a good client");
    for stream in [0, 4] {
        server.respond(stream, b"HTTP/1.1 200 OK\r\n\r\n", b"0123456789", 1_000_000);
    }
    let mut read = Read::default();
    while server.in_use() == 2 {
        client.read(server.out(), &mut read).expect("a good server");
        server.out().clear();
        server.continue_bodies(|stream| stream == 0);
    }
    client.read(server.out(), &mut read).expect("a good server");
    server.out().clear();
    assert!(read.0.iter().any(|line| line == "1 answered 200 1000000"));
    let of_blocked = read.0.iter().filter(|line| line.starts_with("0 body")).map(String::len).sum::<usize>();
    assert!(of_blocked < 100_000, "{of_blocked} bytes");
    assert!(!server.continue_bodies(|stream| stream == 0) && server.out().is_empty());
    assert!(server.continue_bodies(|_| false) && !server.out().is_empty());
}

/// Requests that break a rule are rejected alone.
#[test]
fn bad_requests_are_rejected() {
    let check = |bytes: &[u8], expected: Result<&str, Fault>| {
        let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
        let mut out = Vec::new();
        records::push(&mut out, 0, RecordKind::End, bytes);
        let read = server.read(&out, &mut asked);
        assert_eq!(read.err(), expected.err());
        if let Ok(line) = expected {
            assert_eq!(asked.lines.last().map(String::as_str), Some(line));
            assert_eq!(server.in_use(), 0);
        }
        assert!(asked.complete.is_empty());
    };
    // Method alone; nothing at all; a body without a head.
    check(&[1, 3, 0, 0, 0xc0 | 0x11], Ok("0 rejected"));
    check(&[], Ok("0 rejected"));
    check(&[0, 1, 1], Err(Fault::Http3Frame));
}

/// Changed bytes never cause a panic, and each request ends at most once.
#[test]
fn changed_bytes_are_survived() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..2_000 {
        let mut client = client(&[GET, POST, GET]);
        let (mut server, mut asked) = (Server::new(Limits::default()), Asked::default());
        let mut next = |most: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % most as u64) as usize
        };
        let mut change = |bytes: &mut Vec<u8>| {
            for _ in 0..next(4) {
                let at = next(bytes.len());
                bytes[at] = next(256) as u8;
            }
        };
        change(client.out());
        let _ = server.read(client.out(), &mut asked);
        for stream in asked.complete {
            server.respond(stream, b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody", b"", 0);
        }
        change(server.out());
        let mut read = Read::default();
        let _ = client.read(server.out(), &mut read);
        client.cut(|tag, _| read.0.push(format!("{tag} failed")));
        let ends = read.0.iter().filter(|line| line.contains("answered") || line.contains("failed")).count();
        assert_eq!(ends, 3, "round {round}: {read:?}");
    }
}
