//! Streams that take the place of connections: against our server, and against scripted frames.

use std::fmt::Write;

use super::super::frame::{self, flag, kind, setting};
use super::super::hpack::Encoder;
use super::super::{Server, ServerSink};
use super::*;
use crate::fields::FieldEncoder as _;
use crate::h1::{RequestEnd, RequestHead};

const UPGRADE: &[u8] = b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const EVENTS: &[u8] = b"GET /events HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n";
/// The head that the client makes of an accepted upgrade; the key is that of RFC 6455 §1.3.
const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols|Upgrade: websocket|Connection: Upgrade|\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=||";

/// What a side hears.
#[derive(Debug, Default)]
struct Heard(String);

impl Heard {
    fn bytes(&mut self, key: u32, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "|");
        // How bytes are cut has no meaning.
        let last = format!("{key}<");
        if !self.0.rsplit(' ').next().is_some_and(|begun| begun.starts_with(&last)) || self.0.ends_with('>') {
            write!(self.0, " {last}").unwrap();
        }
        self.0.push_str(&text.replace(' ', "_"));
    }

    fn take(&mut self) -> String {
        std::mem::take(&mut self.0).trim().replace('_', " ")
    }
}

impl TunnelSink<u32> for Heard {
    fn received(&mut self, key: u32, bytes: &[u8]) {
        self.bytes(key, bytes);
    }

    fn ended(&mut self, key: u32) {
        write!(self.0, " {key}=end").unwrap();
    }

    fn failed(&mut self, key: u32, failure: StreamFailure) {
        write!(self.0, " {key}!{failure:?}").unwrap();
    }
}

impl ServerSink for Heard {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        let upgrade = head.header("upgrade").unwrap_or(b"-").escape_ascii();
        let key = if head.header("sec-websocket-key").is_some() { "key" } else { "" };
        let (method, target) = (head.method.escape_ascii(), head.target.escape_ascii());
        write!(self.0, " {stream}:{method}{target},{upgrade}{key}").unwrap();
    }

    fn body(&mut self, stream: u32, bytes: &[u8]) {
        self.bytes(stream, bytes);
    }

    fn request(&mut self, stream: u32, _: RequestEnd) {
        write!(self.0, " {stream}=end").unwrap();
    }

    fn cancelled(&mut self, stream: u32) {
        write!(self.0, " {stream}=cancelled").unwrap();
    }
}

/// A client and our server, which exchange bytes in pieces of a given size.
struct Pair {
    client: TunnelClient<u32>,
    server: Server,
    piece: usize,
    heard: [Heard; 2],
}

impl Pair {
    fn new(piece: usize) -> Self {
        let (client, server) = (TunnelClient::new(false), Server::new(Limits::default()));
        let mut own = Self { client, server, piece, heard: Default::default() };
        assert_eq!(own.exchange(), ["", ""]);
        own
    }

    /// Exchanges bytes until there are none. Returns what the client and the server hear.
    fn exchange(&mut self) -> [String; 2] {
        loop {
            let to_server = std::mem::take(self.client.out());
            for piece in to_server.chunks(self.piece) {
                self.server.read(piece, &mut self.heard[1]).expect("a correct client");
            }
            let to_client = std::mem::take(self.server.out());
            for piece in to_client.chunks(self.piece) {
                self.client.read(piece, &mut self.heard[0]).expect("a correct server");
            }
            if to_server.is_empty() && to_client.is_empty() {
                return [self.heard[0].take(), self.heard[1].take()];
            }
        }
    }
}

#[test]
fn a_websocket_and_an_event_stream_share_a_connection() {
    for piece in [1, 7, usize::MAX] {
        let mut pair = Pair::new(piece);
        assert!(pair.client.accepts_websockets());
        let chat = pair.client.open(5, UPGRADE).expect("the server accepts WebSockets");
        let news = pair.client.open(6, EVENTS).expect("a request");
        assert_eq!(pair.exchange(), ["", "1:GET/ws,websocket 3:GET/events,- 3=end"]);
        // HAProxy 2.6 passes on the field of a server that speaks HTTP/1.
        pair.server.respond_open(chat, b"HTTP/1.1 200 OK\r\nSec-WebSocket-Accept: z\r\nx: y\r\n\r\n");
        pair.server.respond_open(news, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let head = ACCEPTED.strip_suffix('|').expect("an empty line");
        assert_eq!(pair.exchange(), [format!("5<{head}x: y|| 6<HTTP/1.1 200||"), String::new()]);
        pair.client.send(chat, b"hello");
        pair.client.send(news, b"nothing may follow a request for events");
        pair.server.push(news, b"data: 1\n\n");
        assert_eq!(pair.exchange(), ["6<data: 1", "1<hello"]);
        pair.client.close(chat, true);
        assert_eq!(pair.exchange(), ["", "1=end"]);
        pair.server.push(chat, b"bye");
        pair.server.finish(chat);
        pair.client.close(news, true);
        assert_eq!(pair.exchange(), ["5<bye 5=end", "3=cancelled"]);
        assert_eq!((pair.client.in_use(), pair.server.in_use()), (0, 0));
    }
}

#[test]
fn a_stream_that_the_server_ends_is_closed_on_both_sides() {
    let mut pair = Pair::new(usize::MAX);
    let stream = pair.client.open(1, UPGRADE).expect("the server accepts WebSockets");
    pair.exchange();
    pair.server.respond_open(stream, b"HTTP/1.1 200 OK\r\n\r\n");
    pair.server.finish(stream);
    assert_eq!(pair.exchange(), [format!("1<{ACCEPTED} 1=end"), String::new()]);
    assert_eq!((pair.client.in_use(), pair.server.in_use()), (0, 0));
}

#[test]
fn another_status_is_no_upgrade() {
    let mut pair = Pair::new(usize::MAX);
    let stream = pair.client.open(1, UPGRADE).expect("the server accepts WebSockets");
    pair.exchange();
    pair.server.respond(stream, b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", b"", 0);
    assert_eq!(pair.exchange()[0], "1<HTTP/1.1 403|content-length: 2||no 1=end");
}

#[test]
fn what_flow_control_holds_back_follows_later() {
    let mut client = TunnelClient::new(false);
    let mut script = Vec::new();
    let settings = [(setting::ENABLE_CONNECT_PROTOCOL, 1), (setting::INITIAL_WINDOW_SIZE, 5)];
    frame::push_settings(&mut script, &settings);
    let mut heard = Heard::default();
    client.read(&script, &mut heard).expect("settings");
    let stream = client.open(1, UPGRADE).expect("the server accepts WebSockets");
    client.out().clear();
    client.send(stream, b"hello, ");
    client.send(stream, b"world");
    client.close(stream, true);
    assert_eq!((client.out().ends_with(b"hello"), client.unsent(stream)), (true, 7));
    let mut grants = Vec::new();
    for more in [4, 100] {
        client.out().clear();
        grants.clear();
        frame::push_window_update(&mut grants, stream, more);
        client.read(&grants, &mut heard).expect("a window");
    }
    let mut expected = Vec::new();
    frame::push_header(&mut expected, 3, kind::DATA, flag::END_STREAM, stream);
    expected.extend_from_slice(b"rld");
    assert_eq!((client.unsent(stream), &*client.out()), (0, &expected));
}

/// Reads `frames` after settings and one request for a WebSocket. Returns what is heard.
fn hear(settings: &[(u16, u32)], frames: impl FnOnce(&mut Vec<u8>)) -> (Result<u32, NotOpened>, String) {
    let mut client = TunnelClient::new(true);
    let (mut script, mut heard) = (Vec::new(), Heard::default());
    frame::push_settings(&mut script, settings);
    client.read(&script, &mut heard).expect("settings");
    let opened = client.open(1, UPGRADE);
    script.clear();
    frames(&mut script);
    if let Err(fault) = client.read(&script, &mut heard) {
        write!(heard.0, " fault {fault:?}").unwrap();
    }
    (opened, heard.take())
}

#[test]
fn ends_of_streams() {
    const ACCEPTS: &[(u16, u32)] = &[(setting::ENABLE_CONNECT_PROTOCOL, 1)];
    let none = (Err(NotOpened::NoWebSockets), String::new());
    assert_eq!(hear(&[], |_| {}), none);
    assert_eq!(hear(&[(setting::ENABLE_CONNECT_PROTOCOL, 0)], |_| {}), none);
    let check = |frames: &dyn Fn(&mut Vec<u8>), expected: &str| {
        assert_eq!(hear(ACCEPTS, |out| frames(out)), (Ok(1), expected.to_owned()));
    };
    check(&|out| frame::push_reset(out, 1, super::super::ErrorCode::REFUSED_STREAM), "1!Refused");
    check(&|out| frame::push_reset(out, 1, super::super::ErrorCode(2)), "1!Reset(ErrorCode(2))");
    check(&|out| frame::push_goaway(out, 0, super::super::ErrorCode(0)), "1!GoneAway(ErrorCode(0))");
    // A response that ends before it begins, and data before it.
    check(&|out| frame::push_header(out, 0, kind::DATA, flag::END_STREAM, 1), "1!Fault(Malformed)");
    let early = |out: &mut Vec<u8>| {
        frame::push_header(out, 1, kind::DATA, 0, 1);
        out.push(b'x');
    };
    check(&early, "1!Fault(Malformed)");
    let fields = |out: &mut Vec<u8>| {
        let (mut encoder, mut block) = (Encoder::new(), Vec::new());
        encoder.field(&mut block, b":status", b"101");
        frame::push_headers(out, 1, &block, false);
    };
    check(&fields, "1!Fault(Malformed)");
}

#[test]
fn a_setting_of_another_value_is_a_fault() {
    let mut script = Vec::new();
    frame::push_settings(&mut script, &[(setting::ENABLE_CONNECT_PROTOCOL, 2)]);
    let read = TunnelClient::<u32>::new(false).read(&script, &mut Heard::default());
    assert_eq!(read, Err(Fault::BadSetting));
}

#[test]
fn a_protocol_belongs_to_connect() {
    for (method, protocol, expected) in [
        ("CONNECT", "websocket", "1:GET/a,websocket"),
        ("CONNECT", "other", "1:CONNECT/a,-"),
        ("GET", "websocket", ""),
    ] {
        let mut server = Server::new(Limits::default());
        let (mut encoder, mut block, mut script) = (Encoder::new(), Vec::new(), frame::PREFACE.to_vec());
        let fields = [
            (":method", method),
            (":protocol", protocol),
            (":scheme", "http"),
            (":path", "/a"),
            (":authority", "b"),
        ];
        for (name, value) in fields {
            encoder.field(&mut block, name.as_bytes(), value.as_bytes());
        }
        frame::push_settings(&mut script, &[]);
        frame::push_headers(&mut script, 1, &block, false);
        let mut heard = Heard::default();
        server.read(&script, &mut heard).expect("one stream at fault alone");
        assert_eq!(heard.take(), expected, "{method} {protocol}");
    }
}
