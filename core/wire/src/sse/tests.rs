use std::fmt::Write as _;

use super::*;
use crate::h1::{Limits, OpenBody, ResponseHead};
use crate::ws::{ClientSink, MessageSink};

pub(super) const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n";

/// What a sink receives, as text: `TYPE#ID[DATA]`.
#[derive(Default)]
struct Heard(String);

impl MessageSink for Heard {
    fn fields(&mut self, lines: &[u8]) {
        let lines = String::from_utf8_lossy(lines);
        let values: Vec<_> = lines.lines().filter_map(|line| Some(line.split_once(": ")?.1)).collect();
        let _ = write!(self.0, "{}[", values.join("#"));
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.0.push_str(&String::from_utf8_lossy(bytes));
    }

    fn end(&mut self, _: u64) {
        self.0.push_str("] ");
    }
}

impl ClientSink for Heard {
    fn upgraded(&mut self, head: &ResponseHead<'_>) {
        let _ = write!(self.0, "open {} ", head.status);
    }

    fn refused(&mut self, head: &ResponseHead<'_>) {
        let _ = write!(self.0, "refused {} ", head.status);
    }

    fn ended(&mut self) {
        self.0.push_str("ended ");
    }
}

/// Reads `input` whole, byte by byte and at every split. Returns the result with the fault.
#[track_caller]
pub(super) fn read(input: &[u8]) -> String {
    let at = |cuts: &[usize]| {
        let mut client = Client::new(Limits { body_bytes_max: 40, ..Limits::default() });
        client.connect(b"GET / HTTP/1.1\r\n\r\n", b"");
        let mut heard = Heard::default();
        let mut from = 0;
        for &to in cuts.iter().chain([&input.len()]) {
            if let Err(fault) = client.read(&input[from..to], &mut heard) {
                return format!("{}{fault:?}", heard.0);
            }
            from = to;
        }
        heard.0.trim_end().to_owned()
    };
    let whole = at(&[]);
    let every: Vec<_> = (0..input.len()).collect();
    assert_eq!(at(&every), whole, "byte by byte");
    for cut in every {
        assert_eq!(at(&[cut]), whole, "split at {cut}");
    }
    whole
}

#[track_caller]
pub(super) fn check(stream: &str, expected: &str) {
    assert_eq!(read(format!("{HEAD}{stream}").as_bytes()), format!("open 200 {expected}").trim_end());
}

#[test]
fn events_are_read_as_specified() {
    check("data: a\n\n", "message#[a]");
    check("data: a\r\n\r\ndata: b\r\rdata: c\n\n", "message#[a] message#[b] message#[c]");
    check("event: price\nid: 7\ndata: {\"x\":1}\n\ndata: y\n\n", "price#7[{\"x\":1}] message#7[y]");
    check("data: a\ndata: b\n\n", "message#[a\nb]");
    check("data\n\ndata:\ndata\n\n", "message#[] message#[\n]");
    check(": comment\n\nretry: 5\nid: 3\n\nevent: none\n\ndata:x\n\n", "message#3[x]");
    check("id: 1\ndata: a\n\nid\ndata: b\n\n", "message#1[a] message#[b]");
    check("id: a\0b\ndata: c\n\n", "message#[c]");
    check("data:  two blanks\n\n", "message#[ two blanks]");
    check("\u{feff}data: a\n\n\u{feff}data: b\n\n", "message#[a]");
    check("data: incomplete\n", "");
    check("unknown: field\ndata: a\n\n", "message#[a]");
}

#[test]
fn events_are_limited() {
    check(&format!("data: {}\n\n", "x".repeat(34)), &format!("message#[{}]", "x".repeat(34)));
    check(&format!("data: {}\n\n", "x".repeat(35)), "EventTooLarge");
    check(&format!("data: {}\n", "x".repeat(15)).repeat(3), "EventTooLarge");
    check(&format!("id: {}\n", "x".repeat(30)).repeat(9), "");
    let long = "x".repeat(1_030);
    let mut client = Client::new(Limits::default());
    client.connect(b"GET / HTTP/1.1\r\n\r\n", b"");
    client.read(format!("{HEAD}id: 1\nid: {long}\ndata: a\n\n").as_bytes(), &mut Heard::default()).unwrap();
    assert_eq!(client.last_id(), b"1");
}

#[test]
fn a_stream_ends_with_its_body() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(
        read(format!("{head}5\r\ndata:\r\n5\r\n x\n\n:\r\n0\r\n\r\n").as_bytes()),
        "open 200 message#[x] ended"
    );
    let counted = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 8\r\n\r\ndata:x\n\n";
    assert_eq!(read(counted.as_bytes()), "open 200 message#[x] ended");
}

#[test]
fn other_responses_are_no_streams() {
    assert_eq!(read(b"HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nx"), "refused 404");
    assert_eq!(read(b"HTTP/1.1 204 No Content\r\n\r\n"), "refused 204");
    assert_eq!(read(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\ndata: a\n\n"), "NotEvents");
    assert_eq!(read(b"HTTP/1.1 200 OK\r\n\r\n"), "NotEvents");
    let gzip = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n";
    assert_eq!(read(gzip), "Encoded");
    assert!(read(b"SSH-2.0-x\r\n").starts_with("Http("));
}

#[test]
fn a_lost_stream_is_continued() {
    let mut client = Client::new(Limits::default());
    client.connect(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"41");
    assert_eq!(client.out().as_slice(), b"GET / HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 41\r\n\r\n");
    assert_eq!(client.last_id(), b"41");
}

/// The id of an event that was cut would skip that event.
#[test]
fn a_cut_event_comes_again() {
    let mut client = Client::new(Limits::default());
    client.connect(b"GET / HTTP/1.1\r\n\r\n", b"");
    let mut heard = Heard::default();
    client.read(format!("{HEAD}id: 6\ndata: a\n\nid: 7\ndata: b\n").as_bytes(), &mut heard).unwrap();
    assert_eq!(client.last_id(), b"6");
    client.read(b"\n", &mut heard).unwrap();
    assert_eq!(client.last_id(), b"7");
}

#[test]
fn an_idle_stream_needs_only_its_id() {
    let mut client = Client::new(Limits::default());
    client.connect(b"GET / HTTP/1.1\r\n\r\n", b"");
    client.out().clear();
    let mut heard = Heard::default();
    client.read(HEAD.as_bytes(), &mut heard).unwrap();
    assert_eq!(client.idle_body(), None, "a byte order mark may follow");
    client.read(b"id: 5\ndata: a\n\n", &mut heard).unwrap();
    assert_eq!(client.idle_body(), Some(OpenBody::UntilClose));
    client.read(b"data: b", &mut heard).unwrap();
    assert_eq!(client.idle_body(), None);
    let mut resumed = Client::resume(Limits::default(), OpenBody::Chunked, b"5");
    resumed.read(b"9\r\ndata: b\n\n\r\n", &mut heard).unwrap();
    assert_eq!(heard.0, "open 200 message#5[a] message#5[b] ");
}
