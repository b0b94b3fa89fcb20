//! A client and a server against each other, and a server against bad clients.

use crate::fields::FieldEncoder as _;
use std::collections::BTreeMap;

use super::super::client::{Client, ClientSink, StreamFailure};
use super::super::frame::{flag, kind};
use super::*;
use crate::h1::{ResponseEnd, ResponseHead};

/// Requests that a server has received, by stream.
#[derive(Debug, Default)]
struct Requests {
    texts: BTreeMap<u32, Vec<u8>>,
    complete: Vec<u32>,
    cancelled: Vec<u32>,
}

impl ServerSink for Requests {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        self.texts.insert(stream, head.raw.to_vec());
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a body");
        self.texts.get_mut(&stream).expect("a head before the body").extend_from_slice(bytes);
    }

    fn request(&mut self, stream: u32, _: RequestEnd) {
        self.complete.push(stream);
    }

    fn cancelled(&mut self, stream: u32) {
        self.cancelled.push(stream);
    }
}

/// Responses that a client has received.
#[derive(Debug, Default, PartialEq, Eq)]
struct Responses {
    bodies: BTreeMap<usize, Vec<u8>>,
    fields: BTreeMap<usize, Vec<u8>>,
    ends: Vec<(usize, u16)>,
}

impl ClientSink<usize> for Responses {
    fn began(&mut self, _: &mut usize) -> bool {
        true
    }

    fn head(&mut self, tag: &mut usize, head: &ResponseHead<'_>) {
        self.fields.insert(*tag, head.raw.to_vec());
    }

    fn body(&mut self, tag: &mut usize, bytes: &[u8]) {
        self.bodies.entry(*tag).or_default().extend_from_slice(bytes);
    }

    fn answered(&mut self, tag: usize, end: ResponseEnd) {
        self.ends.push((tag, end.status));
    }

    fn failed(&mut self, tag: usize, failure: StreamFailure) {
        panic!("request {tag} failed: {failure:?}");
    }
}

/// Moves bytes both ways, in pieces of `piece` bytes, until nothing is left to send.
fn exchange(client: &mut Client<usize>, server: &mut Server, piece: usize) -> (Requests, Responses) {
    let (mut requests, mut responses) = (Requests::default(), Responses::default());
    loop {
        let sent = std::mem::take(client.out());
        for piece in sent.chunks(piece) {
            server.read(piece, &mut requests).unwrap();
        }
        for stream in std::mem::take(&mut requests.complete) {
            let body = &requests.texts[&stream];
            let text = [&b"HTTP/1.1 200 OK\r\nX-Length: 1\r\n\r\n"[..], body].concat();
            let filler_left = if body.starts_with(b"GET /large") { 300_000 } else { 0 };
            server.respond(stream, &text, b"0123456789", filler_left);
        }
        server.continue_bodies();
        let answered = std::mem::take(server.out());
        for piece in answered.chunks(piece) {
            client.read(piece, &mut responses).unwrap();
        }
        if sent.is_empty() && answered.is_empty() {
            return (requests, responses);
        }
    }
}

#[test]
fn requests_and_responses_arrive_unchanged() {
    let large = [&b"POST /up?a=b HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\n\r\n"[..], &vec![b'z'; 200_000][..]]
        .concat();
    let texts = [
        &b"GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n"[..],
        &large,
        b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
        b"POST /small HTTP/1.1\r\nHost: a.test\r\n\r\nbody",
    ];
    let mut expected = None;
    for piece in [1_usize, 7, 1 << 20] {
        let (mut client, mut server) =
            (Client::new(Limits::default(), false), Server::new(Limits::default()));
        for (tag, text) in texts.iter().enumerate() {
            client.request(tag, text, true).unwrap();
        }
        let (requests, mut responses) = exchange(&mut client, &mut server, piece);
        responses.ends.sort_unstable();
        assert_eq!(responses.ends, [(0, 200), (1, 200), (2, 200), (3, 200)]);
        assert_eq!((client.in_flight(), server.in_use()), (0, 0));
        let up = String::from_utf8(requests.texts[&3].clone()).unwrap();
        assert!(
            up.starts_with("POST /up?a=b HTTP/2\r\nhost: a.test\r\nx-one: 1\r\n\r\nzzz"),
            "{}",
            &up[..80]
        );
        assert_eq!(responses.bodies[&1].len(), up.len());
        assert_eq!(responses.bodies[&0].len(), requests.texts[&1].len() + 300_000);
        assert_eq!(responses.fields[&0], b"HTTP/2 200\r\nx-length: 1\r\n\r\n");
        // Pieces and earlier responses change nothing.
        for _ in 0..3 {
            client.request(2, texts[2], true).unwrap();
            let (again, _) = exchange(&mut client, &mut server, piece);
            assert_eq!(again.texts.values().next(), Some(&requests.texts[&5]));
            client.request(3, texts[3], true).unwrap();
            let (again, _) = exchange(&mut client, &mut server, piece);
            assert_eq!(again.texts.values().next(), Some(&requests.texts[&7]));
        }
        assert_eq!(*expected.get_or_insert_with(|| responses.bodies.clone()), responses.bodies);
    }
}

/// Trailers follow the body, also if windows hold it back.
#[test]
fn trailers_end_a_response() {
    for size in [1, 100_000] {
        let (mut client, mut server) =
            (Client::new(Limits::default(), false), Server::new(Limits::default()));
        client
            .request(0, b"POST /a HTTP/2\r\nContent-Type: application/grpc\r\n\r\n\0\0\0\0\0", true)
            .unwrap();
        let mut requests = Requests::default();
        server.read(&std::mem::take(client.out()), &mut requests).unwrap();
        let length = u32::try_from(size).unwrap().to_be_bytes();
        let text = [&b"HTTP/1.1 200 OK\r\n\r\n\0"[..], &length, &vec![b'x'; size]].concat();
        server.respond_with_trailers(1, &text, b"grpc-status: 5\r\nGrpc-Message: no\r\n".to_vec());
        let mut responses = Responses::default();
        while !server.out().is_empty() {
            client.read(&std::mem::take(server.out()), &mut responses).unwrap();
            server.read(&std::mem::take(client.out()), &mut requests).unwrap();
            server.continue_bodies();
        }
        assert_eq!(responses.ends, [(0, 5)]);
        assert_eq!(responses.bodies[&0].len(), size + 5);
        assert_eq!((client.in_flight(), server.in_use()), (0, 0));
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::push_header(&mut bytes, payload.len(), kind, flags, stream);
    bytes.extend_from_slice(payload);
    bytes
}

fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let (mut encoder, mut block) = (Encoder::new(), Vec::new());
    encoder.set_size_max(0);
    for (name, value) in fields {
        encoder.field(&mut block, name.as_bytes(), value.as_bytes());
    }
    block
}

const GET: [(&str, &str); 3] = [(":method", "GET"), (":scheme", "http"), (":path", "/")];

/// Reads frames after a preface and settings. Returns the fault, and the streams that were reset.
fn read(frames: &[Vec<u8>]) -> (Option<Fault>, Requests) {
    let mut server = Server::new(Limits::default());
    let mut requests = Requests::default();
    let bytes = [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, b""), &frames.concat()].concat();
    let fault = server.read(&bytes, &mut requests).err();
    let (mut again, mut same) = (Server::new(Limits::default()), Requests::default());
    let by_byte = bytes.iter().find_map(|byte| again.read(&[*byte], &mut same).err());
    assert_eq!((by_byte, &same.texts, &same.complete), (fault, &requests.texts, &requests.complete));
    assert_eq!(again.out(), server.out());
    (fault, requests)
}

#[test]
fn bad_requests_are_rejected_alone() {
    let check = |fields: &[(&str, &str)]| {
        let flags = flag::END_HEADERS | flag::END_STREAM;
        let frames =
            [frame(kind::HEADERS, flags, 1, &block(fields)), frame(kind::HEADERS, flags, 3, &block(&GET))];
        let (fault, requests) = read(&frames);
        assert_eq!((fault, &requests.complete[..]), (None, &[3][..]), "{fields:?}");
    };
    let with = |more: &[(&'static str, &'static str)]| [&GET[..], more].concat();
    check(&GET[1..]);
    check(&GET[..2]);
    check(&[GET[0], GET[1], (":path", "")]);
    check(&with(&[(":path", "/")]));
    check(&with(&[(":status", "200")]));
    check(&with(&[("x", "1"), (":authority", "a")]));
    check(&with(&[("Upper", "1")]));
    check(&with(&[("connection", "close")]));
    check(&with(&[("te", "gzip")]));
    check(&with(&[("content-length", "5")]));
    check(&with(&[("x", "a\r\nb")]));
}

#[test]
fn bad_frames_end_the_connection() {
    let headers = || frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &block(&GET));
    let check = |frames: &[Vec<u8>], fault: Fault| assert_eq!(read(frames).0, Some(fault), "{frames:?}");
    check(&[frame(kind::HEADERS, flag::END_HEADERS, 2, &block(&GET))], Fault::UnknownStream);
    check(&[frame(kind::DATA, 0, 1, b"x")], Fault::UnknownStream);
    check(&[frame(kind::RST_STREAM, 0, 1, b"1234")], Fault::UnknownStream);
    check(&[frame(kind::WINDOW_UPDATE, 0, 1, b"1234")], Fault::UnknownStream);
    check(&[frame(kind::PUSH_PROMISE, 0, 1, b"1234")], Fault::Push);
    check(&[frame(kind::CONTINUATION, 0, 1, b"1234")], Fault::Continuation);
    check(&[frame(kind::HEADERS, 0, 1, b"\x82"), headers()], Fault::Continuation);
    check(&[frame(kind::HEADERS, flag::END_HEADERS, 1, b"\xff\xff\xff\xff\xff")], Fault::Compression);
    check(&[headers(), frame(kind::RST_STREAM, 0, 1, b"123")], Fault::FrameSize);
    let cancelled = [headers(), frame(kind::RST_STREAM, 0, 1, b"1234"), frame(kind::DATA, 0, 1, b"x")];
    check(&cancelled, Fault::StreamClosed);
    check(&vec![frame(kind::PING, 0, 0, b"12345678"); 10_001], Fault::Flood);
    let late = [headers(), frame(kind::DATA, 0, 1, b"x")];
    let (fault, requests) = read(&late);
    assert_eq!((fault, &requests.cancelled[..]), (None, &[1][..]));
    let mut server = Server::new(Limits::default());
    assert_eq!(server.read(b"GET / HTTP/1.1\r\n", &mut Requests::default()), Err(Fault::NoPreface));
}

/// A server in its shutdown reads on, finishes what it has begun, and refuses what comes later.
#[test]
fn a_parting_server_finishes_streams() {
    let (mut server, mut requests) = (Server::new(Limits::default()), Requests::default());
    let head = |flags, id| frame(kind::HEADERS, flag::END_HEADERS | flags, id, &block(&GET));
    let bytes = [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, b""), &head(0, 1)].concat();
    server.read(&bytes, &mut requests).expect("a good client");
    server.part();
    server.out().clear();
    let late = [head(0, 3), frame(kind::DATA, flag::END_STREAM, 3, b"late")].concat();
    server.read(&late, &mut requests).expect("it may not have read GOAWAY");
    assert_eq!(*server.out(), frame(kind::RST_STREAM, 0, 3, &7_u32.to_be_bytes()), "REFUSED_STREAM");
    server.read(&frame(kind::DATA, flag::END_STREAM, 1, b"body"), &mut requests).expect("a good client");
    assert_eq!((&requests.complete[..], requests.texts.contains_key(&3)), (&[1][..], false));
    server.respond(1, b"HTTP/1.1 200 OK\r\n\r\n", b"", 0);
    assert_eq!(server.in_use(), 0);
    let flood: Vec<u8> = (2..=10_002).flat_map(|number| head(flag::END_STREAM, 2 * number + 1)).collect();
    assert_eq!(server.read(&flood, &mut requests), Err(Fault::Flood));
}

/// Many requests that were answered early may end late.
#[test]
fn late_ends_of_many_requests_are_expected() {
    let mut server = Server::new(Limits::default());
    let post = [(":method", "POST"), (":scheme", "http"), (":path", "/")];
    let ids = || (1..=199).step_by(2);
    let mut bytes = [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, b"")].concat();
    for id in ids() {
        bytes.extend(frame(kind::HEADERS, flag::END_HEADERS, id, &block(&post)));
    }
    server.read(&bytes, &mut Requests::default()).expect("a good client");
    for id in ids() {
        server.respond(id, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", b"", 0);
    }
    let ends: Vec<u8> = ids().flat_map(|id| frame(kind::DATA, flag::END_STREAM, id, b"")).collect();
    assert_eq!(server.read(&ends, &mut Requests::default()), Ok(()));
}

/// Windows that let a body advance are progress, however small they are.
#[test]
fn windows_of_a_long_response_are_no_flood() {
    let mut server = Server::new(Limits::default());
    let headers = frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, &block(&GET));
    let bytes = [&PREFACE[..], &frame(kind::SETTINGS, 0, 0, b""), &headers].concat();
    server.read(&bytes, &mut Requests::default()).expect("a good client");
    server.respond(1, b"HTTP/1.1 200 OK\r\n\r\n", b"x", 20_000_000);
    let window = |id| frame(kind::WINDOW_UPDATE, 0, id, &1_000_u32.to_be_bytes());
    let windows = [window(0), window(1)].concat();
    for round in 0..6_000 {
        assert_eq!(server.read(&windows, &mut Requests::default()), Ok(()), "round {round}");
        server.continue_bodies();
        server.out().clear();
    }
}

#[test]
fn cookies_are_one_field() {
    let flags = flag::END_HEADERS | flag::END_STREAM;
    let fields = [&GET[..], &[("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")]].concat();
    let (_, requests) = read(&[frame(kind::HEADERS, flags, 1, &block(&fields))]);
    let text = String::from_utf8_lossy(&requests.texts[&1]).into_owned();
    assert!(text.ends_with("x: y\r\ncookie: a=1; b=2\r\n\r\n"), "{text}");
}

#[test]
fn fields_of_http1_are_left_out() {
    let mut client = Client::new(Limits::default(), false);
    let (mut server, mut responses) = (Server::new(Limits::default()), Responses::default());
    client.request(0, b"GET / HTTP/2\r\nHost: a\r\n\r\n", true).expect("a request");
    server.read(client.out(), &mut Requests::default()).expect("a good client");
    let head = b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nx: y\r\n\r\n";
    server.respond(1, head, b"", 0);
    client.read(server.out(), &mut responses).expect("a good server");
    assert_eq!(responses.ends, [(0, 426)]);
}

#[test]
fn the_preface_is_recognized() {
    let check = |bytes: &[u8], expected: bool| assert_eq!(begins_http2(bytes), expected, "{bytes:?}");
    check(PREFACE, true);
    check(&PREFACE[..4], true);
    check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0", true);
    check(b"PRI", false);
    check(b"PRI / HTTP/1.1\r\n", false);
    check(b"GET / HTTP/1.1\r\n", false);
    check(b"", false);
}
