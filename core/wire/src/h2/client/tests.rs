//! A client against the bytes of a server: whole, byte by byte, and cut in two at every place.

use crate::fields::FieldEncoder as _;
use std::fmt::Write;

use super::super::frame::{self, FrameHeader, flag, kind};
use super::super::hpack::Encoder;
use super::*;

/// What a client reports, in a form that allows two readings to be compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Transcript {
    pub(super) events: String,
    bodies: [Vec<u8>; 4],
}

impl ClientSink<usize> for Transcript {
    fn began(&mut self, _: &mut usize) -> bool {
        true
    }

    fn head(&mut self, tag: &mut usize, head: &ResponseHead<'_>) {
        write!(self.events, "{tag}:{}", head.status).unwrap();
        for (name, value) in head.headers() {
            write!(self.events, "[{} {}]", name.escape_ascii(), value.escape_ascii()).unwrap();
        }
        self.events.push(' ');
    }

    fn trailers(&mut self, tag: &mut usize, lines: &[u8]) {
        let lines = lines.escape_ascii().to_string().replace("\\r\\n", ";");
        write!(self.events, "{tag}+({}) ", lines.trim_end_matches(';')).unwrap();
    }

    fn body(&mut self, tag: &mut usize, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
        self.bodies[*tag].extend_from_slice(bytes);
    }

    fn answered(&mut self, tag: usize, end: ResponseEnd) {
        let body = self.bodies[tag].escape_ascii().to_string();
        assert_eq!(end.body_bytes, self.bodies[tag].len() as u64);
        write!(self.events, "{tag}={}({body}) ", end.status).unwrap();
    }

    fn failed(&mut self, tag: usize, failure: StreamFailure) {
        // How much of the body arrived before the fault depends on the cuts.
        self.bodies[tag].clear();
        write!(self.events, "{tag}!{failure:?} ").unwrap();
    }
}

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: shop.test\r\nAccept: */*\r\n\r\n";

/// Frames of a server.
#[derive(Clone, Default)]
pub(super) struct Script(pub(super) Vec<u8>);

impl Script {
    pub(super) fn new() -> Self {
        let mut script = Self::default();
        frame::push_settings(&mut script.0, &[(setting::MAX_CONCURRENT_STREAMS, 100)]);
        script
    }

    pub(super) fn frame(mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        frame::push_header(&mut self.0, payload.len(), kind, flags, stream);
        self.0.extend_from_slice(payload);
        self
    }

    pub(super) fn headers(mut self, stream: u32, fields: &[(&str, &str)], end: bool) -> Self {
        frame::push_headers(&mut self.0, stream, &block(fields), end);
        self
    }

    pub(super) fn data(self, stream: u32, bytes: &[u8], end: bool) -> Self {
        self.frame(kind::DATA, u8::from(end) * flag::END_STREAM, stream, bytes)
    }
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut block) = (Encoder::new(), Vec::new());
    // No table, so that every block can be decoded alone.
    encoder.set_size_max(0);
    for (name, value) in fields {
        encoder.field(&mut block, name.as_bytes(), value.as_bytes());
    }
    block
}

/// Reads `script` after `requests` requests. Returns the events, and the bytes sent after them.
fn read(script: &[u8], requests: usize, cut: &mut dyn FnMut(usize) -> usize) -> (Transcript, Vec<u8>) {
    let mut client = Client::new(Limits::default(), false);
    let mut said = Transcript::default();
    for tag in 0..requests {
        client.request(tag, GET, true).unwrap();
    }
    client.out().clear();
    let mut rest = script;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(cut(rest.len()).min(rest.len()));
        rest = behind;
        if let Err(fault) = client.read(piece, &mut said) {
            write!(said.events, "fault {fault:?} ").unwrap();
            assert_eq!(client.read(b"x", &mut said), Err(fault), "a fault that is not repeated");
            break;
        }
    }
    let out = std::mem::take(client.out());
    client.cut(|tag, begun| write!(said.events, "{tag}:cut({begun}) ").unwrap());
    assert_eq!(client.in_flight(), 0);
    (said, out)
}

/// Compares the events with `expected`, for every way of cutting the bytes. Returns the bytes that
/// the client sent.
fn check(script: &Script, requests: usize, expected: &str) -> Vec<u8> {
    let (said, out) = read(&script.0, requests, &mut |_| usize::MAX);
    assert_eq!(said.events.trim_end(), expected);
    assert_eq!(read(&script.0, requests, &mut |_| 1), (said, out.clone()), "byte by byte");
    for first in 1..script.0.len().min(400) {
        let mut lengths = [first, usize::MAX].into_iter();
        let again = read(&script.0, requests, &mut |_| lengths.next().unwrap_or(usize::MAX));
        assert_eq!(again.0.events.trim_end(), expected, "cut after {first} bytes");
        assert_eq!(again.1, out, "cut after {first} bytes");
    }
    out
}

/// The frames that a client sent: type, flags and stream.
fn frames(mut out: &[u8]) -> Vec<(u8, u8, u32)> {
    let mut all = Vec::new();
    while let Some(header) = out.first_chunk() {
        let header = FrameHeader::parse(*header);
        all.push((header.kind, header.flags, header.stream));
        out = &out[frame::HEADER_BYTES + header.length..];
    }
    all
}

const OK: &[(&str, &str)] = &[(":status", "200"), ("content-length", "2")];

#[test]
fn responses_in_any_order() {
    let script = Script::new().headers(3, OK, false).headers(1, OK, false).data(1, b"a", false);
    let script = script.data(3, b"xy", true).data(1, b"b", true);
    let out = check(&script, 2, "1:200[content-length 2] 0:200[content-length 2] 1=200(xy) 0=200(ab)");
    assert_eq!(frames(&out), [(kind::SETTINGS, flag::ACK, 0)]);
}

#[test]
fn interim_responses_trailers_and_padding() {
    let script = Script::new()
        .headers(1, &[(":status", "103"), ("link", "x")], false)
        .headers(1, &[(":status", "200")], false)
        .frame(kind::DATA, flag::PADDED, 1, b"\x03abc\0\0\0")
        .headers(1, &[("x-sum", "1")], true);
    check(&script, 1, "0:200 0+(x-sum: 1) 0=200(abc)");
    let padded = [&[2, 0, 0, 0, 0, 0][..], &block(&[(":status", "204")]), &[0, 0]].concat();
    let flags = flag::PADDED | flag::PRIORITY | flag::END_HEADERS | flag::END_STREAM;
    check(&Script::new().frame(kind::HEADERS, flags, 1, &padded), 1, "0:204 0=204()");
}

#[test]
fn a_header_block_in_several_frames() {
    let block = block(&[(":status", "200"), ("server", "abcdefgh")]);
    let script = Script::new()
        .frame(kind::HEADERS, flag::END_STREAM, 1, &block[..3])
        .frame(kind::CONTINUATION, 0, 1, &block[3..5])
        .frame(kind::CONTINUATION, flag::END_HEADERS, 1, &block[5..]);
    check(&script, 1, "0:200[server abcdefgh] 0=200()");
    let broken = Script::new().frame(kind::HEADERS, 0, 1, &block[..3]);
    check(&broken.clone().frame(kind::PING, 0, 0, b"12345678"), 1, "fault Continuation 0:cut(false)");
    check(&broken.clone().data(1, b"x", true), 1, "fault Continuation 0:cut(false)");
    check(&broken.frame(kind::CONTINUATION, 0, 3, &block[3..]), 1, "fault Continuation 0:cut(false)");
    let mut endless = Script::new().frame(kind::HEADERS, 0, 1, &block[..3]);
    for _ in 0..40 {
        endless = endless.frame(kind::CONTINUATION, 0, 1, b"");
    }
    check(&endless, 1, "fault HeadersTooLarge 0:cut(false)");
}

#[test]
fn a_bad_response_resets_its_stream_only() {
    let bad = |fields: &[(&str, &str)], data: &[u8], fault: &str| {
        let script = Script::new().headers(1, fields, false).data(1, data, true).headers(3, OK, false);
        let script = script.data(3, b"ok", true);
        let (said, out) = read(&script.0, 2, &mut |_| usize::MAX);
        assert!(said.events.contains(&format!("0!Fault({fault})")), "{said:?}");
        assert!(said.events.ends_with("1=200(ok) "), "{said:?}");
        assert!(frames(&out).contains(&(kind::RST_STREAM, 0, 1)), "{out:?}");
        assert_eq!(read(&script.0, 2, &mut |_| 1), (said, out));
    };
    bad(&[("server", "x")], b"", "Malformed");
    bad(&[("server", "x"), (":status", "200")], b"", "Malformed");
    bad(&[(":status", "200"), (":status", "200")], b"", "Malformed");
    bad(&[(":status", "20")], b"", "Malformed");
    bad(&[(":status", "101")], b"", "Malformed");
    bad(&[(":status", "200"), (":path", "/")], b"", "Malformed");
    bad(&[(":status", "200"), ("Server", "x")], b"", "Malformed");
    bad(&[(":status", "200"), ("connection", "close")], b"", "Malformed");
    bad(&[(":status", "200"), ("x", "a\nb")], b"", "Malformed");
    bad(&[(":status", "200"), ("content-length", "x")], b"", "Malformed");
    bad(&[(":status", "200"), ("content-length", "3")], b"abcd", "BodyLength");
    bad(&[(":status", "200"), ("content-length", "3")], b"ab", "BodyLength");
    bad(&[(":status", "304")], b"ab", "Malformed");
    let many: Vec<_> = (0..300).map(|_| ("x", "y")).collect();
    bad(&[&[(":status", "200")], &many[..]].concat(), b"", "HeadersTooLarge");
}

#[test]
fn resets_and_departures() {
    let reset = |code: u32, failure: &str| {
        let script = Script::new().frame(kind::RST_STREAM, 0, 1, &code.to_be_bytes());
        check(&script.headers(3, &[(":status", "200")], true), 2, &format!("0!{failure} 1:200 1=200()"));
    };
    reset(7, "Refused");
    reset(2, "Reset(ErrorCode(2))");
    let goaway = Script::new().frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    check(&goaway.headers(1, &[(":status", "200")], true), 2, "1!GoneAway(ErrorCode(0)) 0:200 0=200()");
    // Frames that were sent before the peer knew of the reset are ignored.
    let late = Script::new().headers(1, &[("x", "y")], false).data(1, b"late", true);
    check(&late, 1, "0!Fault(Malformed)");
}

#[test]
fn faults_of_the_connection() {
    let plain = || Script(Vec::new());
    check(&plain().frame(kind::PING, 0, 0, b"12345678"), 1, "fault NoSettings 0:cut(false)");
    check(&Script(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()), 1, "fault Http1 0:cut(false)");
    check(&plain().frame(kind::SETTINGS, 0, 1, b""), 0, "fault WrongStream");
    check(&plain().frame(kind::SETTINGS, 0, 0, b"1"), 0, "fault FrameSize");
    let setting = |name: u8, value: u32, fault: &str| {
        let payload = [&[0, name][..], &value.to_be_bytes()].concat();
        check(&plain().frame(kind::SETTINGS, 0, 0, &payload), 0, fault);
    };
    setting(2, 1, "fault BadSetting");
    setting(4, 1 << 31, "fault WindowOverflow");
    setting(5, 100, "fault BadSetting");
    setting(5, 1 << 24, "fault BadSetting");
    let one = |kind: u8, flags: u8, stream: u32, payload: &[u8], events: &str| {
        check(&Script::new().frame(kind, flags, stream, payload), 1, &format!("{events}0:cut(false)"));
    };
    one(kind::PING, 0, 1, b"12345678", "fault WrongStream ");
    one(kind::PING, 0, 0, b"1234567", "fault FrameSize ");
    one(kind::DATA, 0, 0, b"x", "fault WrongStream ");
    one(kind::DATA, 0, 5, b"x", "fault UnknownStream ");
    one(kind::DATA, flag::PADDED, 1, b"\x05abc", "fault Padding ");
    one(kind::HEADERS, flag::END_HEADERS, 0, b"\x88", "fault WrongStream ");
    one(kind::HEADERS, flag::END_HEADERS, 2, b"\x88", "fault UnknownStream ");
    let undecodable = Script::new().frame(kind::HEADERS, flag::END_HEADERS, 1, &[0xff; 6]);
    check(&undecodable, 1, "fault Compression 0:cut(true)");
    one(kind::RST_STREAM, 0, 1, b"123", "fault FrameSize ");
    one(kind::RST_STREAM, 0, 9, b"1234", "fault UnknownStream ");
    one(kind::WINDOW_UPDATE, 0, 0, b"\0\0\0\0", "fault EmptyWindowUpdate ");
    one(kind::WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff", "fault WindowOverflow ");
    one(kind::PUSH_PROMISE, flag::END_HEADERS, 1, b"\0\0\0\x02\x82", "fault Push ");
    one(kind::CONTINUATION, flag::END_HEADERS, 1, b"\x88", "fault Continuation ");
    one(kind::GOAWAY, 0, 1, &[0; 8], "fault WrongStream ");
    one(kind::PRIORITY, 0, 1, b"123", "fault FrameSize ");
    one(99, 0, 1, b"ignored", "");
    let large = Script([&Script::new().0[..], &[0, 64, 1, kind::DATA, 0, 0, 0, 0, 1]].concat());
    check(&large, 1, "fault FrameTooLarge 0:cut(false)");
    let closed = Script::new().headers(1, &[(":status", "200")], true).data(1, b"x", true);
    check(&closed, 1, "0:200 0=200() fault StreamClosed");
}

#[test]
fn floods_end_the_connection() {
    for (kind, payload) in [(kind::PING, &b"12345678"[..]), (kind::SETTINGS, b""), (kind::PRIORITY, b"12345")]
    {
        let mut script = Script::new();
        let stream = u32::from(kind == kind::PRIORITY);
        for _ in 0..10_001 {
            script = script.frame(kind, 0, stream, payload);
        }
        let (said, out) = read(&script.0, 1, &mut |_| usize::MAX);
        assert_eq!(said.events, "fault Flood 0:cut(false) ");
        assert!(out.len() < 256 * 1024, "{} bytes are to be sent", out.len());
    }
}

#[test]
fn pings_are_answered() {
    let script =
        Script::new().frame(kind::PING, 0, 0, b"abcdefgh").frame(kind::PING, flag::ACK, 0, b"abcdefgh");
    let out = check(&script, 0, "");
    assert_eq!(frames(&out), [(kind::SETTINGS, flag::ACK, 0), (kind::PING, flag::ACK, 0)]);
    assert!(out.ends_with(b"abcdefgh"));
}

/// A body waits for the windows of its stream and of the connection.
#[test]
fn bodies_wait_for_windows() {
    let mut client = Client::new(Limits::default(), false);
    let body = vec![b'x'; 100_000];
    let text = [b"POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n", &body[..]].concat();
    client.request(0_usize, &text, true).unwrap();
    let sent = |client: &mut Client<usize>| {
        let mut rest = &std::mem::take(client.out())[..];
        rest = rest.strip_prefix(PREFACE).unwrap_or(rest);
        let (mut bytes, mut ended) = (0, false);
        while let Some(header) = rest.first_chunk() {
            let header = FrameHeader::parse(*header);
            rest = &rest[frame::HEADER_BYTES + header.length..];
            if header.kind == kind::DATA {
                bytes += header.length;
                ended |= header.has(flag::END_STREAM);
            }
        }
        (bytes, ended)
    };
    assert_eq!(sent(&mut client), (65_535, false));
    let mut said = Transcript::default();
    let update =
        |stream, bytes: u32| Script::default().frame(kind::WINDOW_UPDATE, 0, stream, &bytes.to_be_bytes()).0;
    client.read(&Script::new().0, &mut said).unwrap();
    client.read(&update(0, 50_000), &mut said).unwrap();
    assert_eq!(sent(&mut client), (0, false));
    client.read(&update(1, 10_000), &mut said).unwrap();
    assert_eq!(sent(&mut client), (10_000, false));
    // A larger initial window also applies to the streams that are open.
    let mut settings = Script::default();
    frame::push_settings(&mut settings.0, &[(setting::INITIAL_WINDOW_SIZE, 1 << 20)]);
    client.read(&settings.0, &mut said).unwrap();
    assert_eq!(sent(&mut client), (24_465, true));
    assert_eq!(said.events, "");
}

#[test]
fn requests_are_indexed_and_limited() {
    let mut client = Client::new(Limits::default(), true);
    client.out().clear();
    let sizes: Vec<_> = (0..4)
        .map(|tag| {
            client.request(tag, GET, true).unwrap();
            std::mem::take(client.out()).len()
        })
        .collect();
    // Method, scheme, authority, path and accept: one byte each.
    assert_eq!(&sizes[1..], [frame::HEADER_BYTES + 5; 3], "{sizes:?}");
    let mut settings = Script::default();
    frame::push_settings(&mut settings.0, &[(setting::MAX_CONCURRENT_STREAMS, 6)]);
    client.read(&settings.0, &mut Transcript::default()).unwrap();
    assert_eq!((client.room(), client.in_flight()), (2, 4));
    let mut over = Vec::new();
    client.cancel(|&tag| tag % 2 == 1, |tag, begun| over.push((tag, begun)));
    assert_eq!((over, client.room()), (vec![(1, false), (3, false)], 4));
    let goaway = Script::default().frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 99, 0, 0, 0, 0]);
    client.read(&goaway.0, &mut Transcript::default()).unwrap();
    assert_eq!((client.room(), client.in_flight(), client.parting()), (0, 2, Some(ErrorCode(0))));
}

#[test]
fn text_that_is_no_request_is_rejected() {
    let mut client = Client::new(Limits::default(), false);
    for text in [&b""[..], b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n", b" / HTTP/1.1\r\n\r\n"] {
        assert_eq!(client.request(1, text, false), Err(1), "{}", text.escape_ascii());
    }
    let chunked = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    client.out().clear();
    client.request(2, chunked, false).unwrap();
    assert!(client.out().ends_with(b"\0\0\x03\0\x01\0\0\0\x01abc"));
    assert_eq!(client.request(3, &chunked[..chunked.len() - 8], false), Err(3));
}
