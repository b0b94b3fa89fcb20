//! The fuzz targets of WebSocket.

use crate::grpc::CallEnd;
use crate::h1::ResponseHead;
use crate::ws::{Client, ClientSink, CloseCode, Limits, MessageKind, MessageSink, Server, ServerSink};

use super::transcript::{Cut, Transcript};

/// No input may make the machine write more than this before it is sent.
const OUT_BYTES_MAX: usize = 1 << 20;
const LIMITS: Limits = Limits { message_bytes_max: 1 << 16, fragments_max: 8, head_bytes_max: 256 };
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n";

impl MessageSink for Transcript {
    fn begin(&mut self, kind: MessageKind) {
        self.note(format_args!("begin {kind:?}"));
    }

    fn fields(&mut self, lines: &[u8]) {
        self.note(format_args!("fields {}", lines.escape_ascii()));
    }

    fn piece(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "an empty piece of a message");
        self.body.extend_from_slice(bytes);
    }

    fn end(&mut self, length: u64) {
        let message = std::mem::take(&mut self.body);
        assert_eq!(message.len() as u64, length, "the pieces are the message");
        self.note(format_args!("end {}", message.escape_ascii()));
    }
}

impl ClientSink for Transcript {
    fn upgraded(&mut self, head: &ResponseHead<'_>) {
        self.note(format_args!("upgraded {}", head.raw.escape_ascii()));
    }

    fn refused(&mut self, head: &ResponseHead<'_>) {
        self.note(format_args!("refused {} {}", head.status, head.raw.escape_ascii()));
    }

    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        self.note(format_args!("closed {code} {}", reason.escape_ascii()));
    }

    fn ended(&mut self) {
        self.note(format_args!("ended"));
    }

    fn answer_begins(&mut self) {
        self.note(format_args!("answer"));
    }

    fn call_ended(&mut self, end: &CallEnd<'_>) -> bool {
        let CallEnd { status, lines, is_answer, length, .. } = *end;
        let answer = std::mem::take(&mut self.body);
        assert_eq!(answer.len() as u64, length, "the pieces are the answer");
        let (lines, answer) = (lines.escape_ascii(), answer.escape_ascii());
        self.note(format_args!("{status} {is_answer} {answer} {lines}"));
        true
    }
}

impl ServerSink for Transcript {
    fn closed(&mut self, code: CloseCode) {
        self.note(format_args!("closed {code}"));
    }
}

/// Reads `data` as what a server sends: its first byte chooses whether the WebSocket is open.
pub fn websocket_client(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    Cut::same_for_all(data, |cut| client(choice, bytes, cut));
}

fn client(choice: u8, bytes: &[u8], cut: &mut Cut) -> (String, Vec<u8>) {
    let mut client = if choice & 1 == 0 { Client::resume(LIMITS, 1) } else { Client::new(LIMITS, 1) };
    if choice & 1 == 1 {
        client.connect(REQUEST);
    }
    let mut said = Transcript::default();
    cut.feed(bytes, &mut said, |piece, said| client.read(piece, said));
    assert!(client.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", client.out().len());
    (said.events, std::mem::take(client.out()))
}

/// Reads `data` as what a client sends: its first byte chooses whether messages may be compressed.
pub fn websocket_server(data: &[u8]) {
    let Some((&choice, bytes)) = data.split_first() else { return };
    Cut::same_for_all(data, |cut| server(choice, bytes, cut));
}

fn server(choice: u8, bytes: &[u8], cut: &mut Cut) -> (String, Vec<u8>) {
    let (mut server, mut said) = (Server::new(LIMITS, choice & 1 == 1), Transcript::default());
    cut.feed(bytes, &mut said, |piece, said| server.read(piece, said));
    assert!(server.out().len() <= OUT_BYTES_MAX, "{} bytes are to be sent", server.out().len());
    (said.events, std::mem::take(server.out()))
}
