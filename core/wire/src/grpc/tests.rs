//! Tables of what a call reports.

use std::fmt::Write as _;

use super::*;
use crate::h1::ResponseHead;
use crate::h1::{Limits, RequestEnd, RequestHead};
use crate::h2::{NotOpened, Server, ServerSink, TunnelClient, TunnelSink};
use crate::ws::{ClientSink, MessageKind, MessageSink};

const HEAD: &[u8] = b"HTTP/1.1 200\r\nx: y\r\n\r\n";

/// What a sink receives, as text.
#[derive(Default)]
struct Heard {
    text: String,
    /// Whether a request waits for the end.
    takes_end: bool,
}

impl MessageSink for Heard {
    fn begin(&mut self, _: MessageKind) {
        self.text.push('[');
    }

    fn piece(&mut self, bytes: &[u8]) {
        let _ = write!(self.text, "{}", bytes.escape_ascii());
    }

    fn end(&mut self, length: u64) {
        let _ = write!(self.text, "]{length} ");
    }
}

impl ClientSink for Heard {
    fn upgraded(&mut self, _: &ResponseHead<'_>) {}

    fn refused(&mut self, _: &ResponseHead<'_>) {}

    fn answer_begins(&mut self) {
        self.text.push('<');
    }

    fn call_ended(&mut self, end: &CallEnd<'_>) -> bool {
        if self.takes_end {
            let kind = if end.is_answer { ">" } else { "" };
            let (head, trailers) = end.lines.split_at(end.trailers_at);
            let (head, trailers) = (head.escape_ascii(), trailers.escape_ascii());
            let _ = write!(self.text, "{kind}{} {} {head}|{trailers}", end.status, end.length);
        }
        self.takes_end
    }
}

fn frames(messages: &[&[u8]]) -> Vec<u8> {
    let frame =
        |message: &&[u8]| [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), message].concat();
    messages.iter().flat_map(frame).collect()
}

fn ended(mut bytes: Vec<u8>, status: u16, trailers: &[u8]) -> Vec<u8> {
    push_end(&mut bytes, status, trailers);
    [HEAD, &bytes].concat()
}

/// Reads `input` whole, byte by byte and at every split, on a call that is open or, with
/// `is_whole`, made whole.
#[track_caller]
fn check(is_whole: bool, input: &[u8], expected: &str) {
    let read = |cuts: &[usize]| {
        let (mut client, mut heard) = (Client::new(20), Heard { takes_end: true, ..Heard::default() });
        if is_whole {
            client.call(b"");
        } else {
            client.open(b"");
        }
        let mut from = 0;
        for &to in cuts.iter().chain([&input.len()]) {
            if let Err(fault) = client.read(&input[from..to], &mut heard) {
                return format!("{}{fault:?}", heard.text);
            }
            from = to;
        }
        heard.text.trim_end().to_owned()
    };
    let every: Vec<usize> = (0..input.len()).collect();
    assert_eq!(read(&[]), expected);
    assert_eq!(read(&every), expected, "byte by byte");
    for at in every {
        assert_eq!(read(&[at]), expected, "split at {at}");
    }
}

#[test]
fn messages_arrive_one_by_one() {
    let two = ended(frames(&[b"ab", b""]), 0, b"grpc-status: 0\r\n");
    check(false, &two, r"[\x00\x00\x00\x00\x02ab]7 [\x00\x00\x00\x00\x00]5 0 0 x: y\r\n|grpc-status: 0\r\n");
    // Without trailers, the fields of the head are all there is.
    check(false, &ended(Vec::new(), 12, b""), r"12 0 x: y\r\n\r\n|");
    // What follows an end is not read.
    let more = [&ended(Vec::new(), 5, b"a: b\r\n")[..], &frames(&[b"ab"])].concat();
    check(false, &more, r"5 0 x: y\r\n|a: b\r\n");
}

#[test]
fn a_whole_call_has_one_answer() {
    let two = ended(frames(&[b"ab", b"c"]), 0, b"t: u\r\n");
    check(true, &two, r"<\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x01c>0 13 x: y\r\n|t: u\r\n");
    check(true, &ended(Vec::new(), 14, b""), r"<>14 0 x: y\r\n\r\n|");
}

#[test]
fn bad_frames_end_the_stream() {
    for is_whole in [false, true] {
        let begun = if is_whole { "<" } else { "" };
        let bad = |bytes: &[u8], fault: &str| {
            check(is_whole, &[HEAD, bytes].concat(), &format!("{begun}{fault}"));
        };
        bad(b"\x02\0\0\0\x01a", "Frame");
        bad(b"\0\0\0\0\x15", "MessageTooLarge");
        bad(b"\x01\xff\xff\xff\xff", "MessageTooLarge");
    }
    let mut client = Client::new(20);
    client.open(b"");
    let head = vec![b'a'; 70_000];
    assert_eq!(client.read(&head, &mut Heard::default()), Err(Fault::HeadTooLarge));
    assert_eq!(client.read(b"", &mut Heard::default()), Err(Fault::HeadTooLarge));
}

/// An end that arrives while no step waits is kept for the next one.
#[test]
fn an_end_waits_for_a_step() {
    let mut client = Client::new(20);
    assert!(!client.is_open() && !client.is_used());
    client.open(b"GET\r\n\r\n");
    let mut heard = Heard::default();
    client.read(&ended(Vec::new(), 7, b"a: b\r\n"), &mut heard).unwrap();
    assert!(client.is_open() && client.has_unread() && !client.takes_messages());
    heard.takes_end = true;
    client.read(b"", &mut heard).unwrap();
    assert_eq!(heard.text, r"7 0 x: y\r\n|a: b\r\n");
    assert!(!client.is_open() && client.is_used() && !client.has_unread());
}

/// After the client has ended its side, what follows is one answer.
#[test]
fn the_rest_is_the_answer_to_the_end() {
    let (mut client, mut heard) = (Client::new(20), Heard { takes_end: true, ..Heard::default() });
    client.open(b"");
    client.send(&frames(&[b"hi"]));
    client.read(&[HEAD, &frames(&[b"a"])].concat(), &mut heard).unwrap();
    client.end();
    assert_eq!(split_end(client.out()), (&frames(&[b"hi"])[..], true));
    let mut rest = frames(&[b"b", b"c"]);
    push_end(&mut rest, 0, b"");
    client.read(&rest, &mut heard).unwrap();
    let expected = r"[\x00\x00\x00\x00\x01a]6 <\x00\x00\x00\x00\x01b\x00\x00\x00\x00\x01c>0 12 x: y\r\n\r\n|";
    assert_eq!(heard.text, expected);
}

#[test]
fn the_end_is_found_behind_messages() {
    let two = frames(&[b"ab", &[END, 0, 0, 0, 0]]);
    assert_eq!(split_end(&two), (&two[..], false));
    assert_eq!(split_end(&[&two[..], &[END, 0, 0, 0, 0]].concat()), (&two[..], true));
    assert_eq!(split_end(b""), (&b""[..], false));
}

/// The two ends of a connection of HTTP/2.
#[derive(Default)]
struct Ends {
    server: String,
    stream: u32,
    client: Vec<u8>,
    failed: String,
}

impl ServerSink for Ends {
    fn head(&mut self, stream: u32, head: &RequestHead<'_>) {
        self.stream = stream;
        let _ = write!(self.server, "{} ", head.target.escape_ascii());
    }

    fn body(&mut self, _: u32, bytes: &[u8]) {
        let _ = write!(self.server, "{}", bytes.escape_ascii());
    }

    fn request(&mut self, _: u32, _: RequestEnd) {
        self.server.push_str(" end");
    }

    fn cancelled(&mut self, _: u32) {
        self.server.push_str(" cancelled");
    }
}

impl TunnelSink<u8> for Ends {
    fn received(&mut self, _: u8, bytes: &[u8]) {
        self.client.extend_from_slice(bytes);
    }

    fn ended(&mut self, _: u8) {
        self.failed.push_str("ended");
    }

    fn failed(&mut self, _: u8, failure: crate::h2::StreamFailure) {
        let _ = write!(self.failed, "{failure:?}");
    }
}

const CALL: &[u8] = b"POST /shop.Chat/Talk HTTP/2\r\nHost: a\r\nContent-Type: application/grpc\r\n\r\n";

/// A call on a stream, with a server that does what `answer` says after the head. Returns what
/// each side has heard.
fn on_a_stream(answer: impl FnOnce(&mut Server, u32), frames: &[u8]) -> (Ends, TunnelClient<u8>, Server) {
    let (mut client, mut server) = (TunnelClient::new(false), Server::new(Limits::default()));
    let mut ends = Ends::default();
    client.read(server.out(), &mut ends).unwrap();
    server.out().clear();
    let stream = client.open(0, CALL).unwrap();
    client.send(stream, frames);
    server.read(client.out(), &mut ends).unwrap();
    client.out().clear();
    answer(&mut server, ends.stream);
    client.read(server.out(), &mut ends).unwrap();
    server.out().clear();
    (ends, client, server)
}

#[test]
fn both_sides_end_on_a_stream() {
    let ending = [&frames(&[b"ab"])[..], &[END, 0, 0, 0, 0]].concat();
    let answer = |server: &mut Server, stream| {
        server.respond_open(stream, b"HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\n\r\n");
        server.push(stream, &frames(&[b"c"]));
        server.set_trailers(stream, b"grpc-status: 3\r\n".to_vec());
        server.finish(stream);
    };
    let (ends, client, _) = on_a_stream(answer, &ending);
    assert_eq!(ends.server, r"/shop.Chat/Talk \x00\x00\x00\x00\x02ab end");
    assert_eq!((ends.failed.as_str(), client.in_use()), ("", 0));
    let mut expected = b"HTTP/1.1 200\r\ncontent-type: application/grpc\r\n\r\n".to_vec();
    expected.extend(frames(&[b"c"]));
    push_end(&mut expected, 3, b"grpc-status: 3\r\n\r\n");
    assert_eq!(ends.client.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[test]
fn half_a_message_breaks_the_call() {
    let answer = |server: &mut Server, stream| {
        server.respond_open(stream, b"HTTP/1.1 200 OK\r\n\r\n");
        server.push(stream, b"\0\0\0\0\x05ab");
        server.set_trailers(stream, b"grpc-status: 13\r\n".to_vec());
        server.finish(stream);
    };
    let (ends, ..) = on_a_stream(answer, b"");
    assert_eq!(ends.failed, "Fault(GrpcFrame)");
}

/// A body of another protocol is not read as frames.
#[test]
fn an_error_page_is_a_status() {
    let answer = |server: &mut Server, stream| server.respond(stream, b"HTTP/1.1 503 \r\n\r\n<html>", b"", 0);
    let (ends, ..) = on_a_stream(answer, b"");
    let mut expected = b"HTTP/1.1 503\r\n\r\n".to_vec();
    push_end(&mut expected, 503, b"");
    assert_eq!(ends.client, expected);
}

#[test]
fn closing_cancels_the_call() {
    let (mut ends, mut client, mut server) = on_a_stream(|_, _| (), b"");
    client.close(1, true);
    server.read(client.out(), &mut ends).unwrap();
    assert_eq!(ends.server, "/shop.Chat/Talk  cancelled");
    assert_eq!(client.open(0, b"no request"), Err(NotOpened::NotARequest));
}

/// A response of status 200 with the media type of something else.
#[test]
fn a_page_is_no_call() {
    let answer = |server: &mut Server, stream| {
        server.respond(stream, b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html>", b"", 0);
    };
    let (ends, ..) = on_a_stream(answer, b"");
    let mut expected = b"HTTP/1.1 200\r\ncontent-type: text/html\r\n\r\n".to_vec();
    push_end(&mut expected, 2, b"");
    assert_eq!(ends.client.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

/// Compressed messages need an encoding, and flags that do not exist break the call.
#[test]
fn bad_flags_break_the_call() {
    let check = |head: &'static [u8], frame: &'static [u8], failed: &str| {
        let answer = |server: &mut Server, stream| {
            server.respond_open(stream, head);
            server.push(stream, frame);
        };
        assert_eq!(on_a_stream(answer, b"").0.failed, failed);
    };
    let plain = b"HTTP/1.1 200 OK\r\n\r\n";
    check(plain, b"\x01\0\0\0\x01a", "Fault(GrpcCompression)");
    check(plain, b"\x02\0\0\0\x01a", "Fault(GrpcFlag)");
    check(b"HTTP/1.1 200 OK\r\ngrpc-encoding: gzip\r\n\r\n", b"\x01\0\0\0\x01a", "");
}
