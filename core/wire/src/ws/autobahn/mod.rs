//! The cases of the Autobahn test suite, which tests most implementations of WebSocket, as tables
//! with its numbers. Every case runs against our client and, with masked frames, against our
//! server: in one piece and cut in many ways. After a case without a fault the peer closes with
//! 1000, and messages are echoed, as the suite expects.

mod closing;
mod compression;
mod frames;
mod framing;
mod limits;
mod text;

use std::fmt;

use frames::{
    BINARY, COMPRESSED, Frame, TEXT, binary, bytes_of, close, fragments, frame, frames_of, ping, pong, rest,
    text,
};

use super::frame::MessageKind;
use super::{Client, ClientSink, CloseCode, Fault, Limits, MessageSink, Server, ServerSink};
use crate::h1::ResponseHead;

const HELLO: &str = "Hello, world!";

/// What a machine reported.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Message(Frame),
    Closed(u16),
    Fault(Fault),
}

#[derive(Default)]
struct Log {
    events: Vec<Event>,
    reason: Vec<u8>,
    kind: Option<MessageKind>,
    message: Vec<u8>,
}

impl MessageSink for Log {
    fn begin(&mut self, kind: MessageKind) {
        assert_eq!(self.kind.replace(kind), None);
    }

    fn piece(&mut self, bytes: &[u8]) {
        self.message.extend_from_slice(bytes);
    }

    fn end(&mut self, length: u64) {
        let payload = std::mem::take(&mut self.message);
        assert_eq!(payload.len() as u64, length);
        let first = if self.kind.take() == Some(MessageKind::Text) { TEXT } else { BINARY };
        self.events.push(Event::Message(Frame { first, payload }));
    }
}

impl ClientSink for Log {
    fn upgraded(&mut self, _head: &ResponseHead<'_>) {}

    fn refused(&mut self, head: &ResponseHead<'_>) {
        panic!("refused with status {}", head.status);
    }

    fn closed(&mut self, code: CloseCode, reason: &[u8]) {
        self.events.push(Event::Closed(code.0));
        self.reason = reason.to_vec();
    }
}

impl ServerSink for Log {
    fn closed(&mut self, code: CloseCode) {
        self.events.push(Event::Closed(code.0));
    }
}

/// One of our sides.
trait Machine {
    const IS_SERVER: bool;
    fn read(&mut self, bytes: &[u8], log: &mut Log) -> Result<(), Fault>;
    fn send(&mut self, kind: MessageKind, payload: &[u8]);
    fn out(&mut self) -> &mut Vec<u8>;
}

macro_rules! machines {
    ($($side:ident is_server $is_server:literal),*) => {$(
        impl Machine for $side {
            const IS_SERVER: bool = $is_server;
            fn read(&mut self, bytes: &[u8], log: &mut Log) -> Result<(), Fault> {
                self.read(bytes, log)
            }
            fn send(&mut self, kind: MessageKind, payload: &[u8]) {
                self.send(kind, payload, &mut None);
            }
            fn out(&mut self) -> &mut Vec<u8> {
                self.out()
            }
        }
    )*};
}

machines!(Client is_server false, Server is_server true);

/// What a machine made of its input.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    events: Vec<Event>,
    reason: Vec<u8>,
    written: Vec<Frame>,
}

/// Feeds `pieces` to `machine` and echoes the messages if `echoes`. Stops at a fault, which must be
/// repeated.
fn run<'a, M: Machine>(mut machine: M, pieces: impl IntoIterator<Item = &'a [u8]>, echoes: bool) -> Outcome {
    let (mut log, mut written) = (Log::default(), Vec::new());
    for piece in pieces {
        let before = log.events.len();
        let read = machine.read(piece, &mut log);
        written.append(machine.out());
        if let Err(fault) = read {
            assert_eq!(machine.read(piece, &mut log), Err(fault));
            assert!(machine.out().is_empty());
            log.events.push(Event::Fault(fault));
            break;
        }
        for event in &log.events[before..] {
            if let Event::Message(message) = event
                && echoes
            {
                let kind = if message.first == TEXT { MessageKind::Text } else { MessageKind::Binary };
                machine.send(kind, &message.payload);
                written.append(machine.out());
            }
        }
    }
    let written = frames_of(&written, !M::IS_SERVER);
    Outcome { events: log.events, reason: log.reason, written }
}

/// How a case ends.
#[derive(Clone, Debug)]
enum End {
    /// The peer closes with 1000 after the echoes.
    Normal,
    /// The peer has closed with this code and reason.
    Closed(u16, Vec<u8>),
    /// The fault of the peer, and the code that it gets.
    Fault(Fault, u16),
    /// Nothing happens yet.
    Waiting,
}

/// A case: what is sent to us and what we make of it.
#[derive(Clone, Debug)]
struct Case {
    number: String,
    frames: Vec<Frame>,
    /// The last bytes of the last frame that are not sent.
    withheld: usize,
    messages: Vec<Frame>,
    pongs: Vec<Frame>,
    end: End,
}

fn case(number: impl fmt::Display, frames: impl Into<Vec<Frame>>) -> Case {
    Case {
        number: number.to_string(),
        frames: frames.into(),
        withheld: 0,
        messages: Vec::new(),
        pongs: Vec::new(),
        end: End::Normal,
    }
}

impl Case {
    fn text(mut self, payload: impl AsRef<[u8]>) -> Self {
        self.messages.push(text(payload));
        self
    }

    fn binary(mut self, payload: impl AsRef<[u8]>) -> Self {
        self.messages.push(binary(payload));
        self
    }

    fn pong(mut self, payload: impl AsRef<[u8]>) -> Self {
        self.pongs.push(pong(payload));
        self
    }

    fn fails(mut self, fault: Fault, code: u16) -> Self {
        self.end = End::Fault(fault, code);
        self
    }

    fn closed(mut self, code: u16, reason: impl AsRef<[u8]>) -> Self {
        self.end = End::Closed(code, reason.as_ref().to_vec());
        self
    }

    fn waits(mut self) -> Self {
        self.end = End::Waiting;
        self
    }

    fn without_last(mut self, bytes: usize) -> Self {
        self.withheld = bytes;
        self
    }

    /// Returns what our side should make of it.
    fn expected(&self) -> Outcome {
        let mut events: Vec<Event> = self.messages.iter().cloned().map(Event::Message).collect();
        let mut written = self.pongs.clone();
        let mut reason = Vec::new();
        match &self.end {
            End::Normal => {
                written.extend(self.messages.iter().cloned());
                written.push(close(1000, ""));
                events.push(Event::Closed(1000));
            }
            End::Closed(code, why) => {
                events.push(Event::Closed(*code));
                written.push(close(*code, ""));
                reason.clone_from(why);
            }
            End::Fault(fault, code) => {
                events.push(Event::Fault(*fault));
                written.push(close(*code, ""));
            }
            End::Waiting => {}
        }
        Outcome { events, reason, written }
    }

    fn check(&self) {
        self.check_side(|| Client::resume(Limits::default(), 7));
        self.check_side(|| Server::new(Limits::default(), false));
    }

    fn check_side<M: Machine>(&self, start: fn() -> M) {
        let mut bytes = bytes_of(&self.frames, M::IS_SERVER);
        bytes.truncate(bytes.len() - self.withheld);
        let mut expected = self.expected();
        if M::IS_SERVER {
            // A server reports no reason.
            expected.reason.clear();
        }
        let echoes = matches!(self.end, End::Normal);
        let last = if echoes { bytes_of(&[close(1000, "")], M::IS_SERVER) } else { Vec::new() };
        let last = Some(&last[..]).filter(|last| !last.is_empty());
        for size in sizes(bytes.len()) {
            let outcome = run(start(), bytes.chunks(size).chain(last), echoes);
            assert_eq!(outcome, expected, "{} in pieces of {size}, server {}", self.number, M::IS_SERVER);
        }
        if bytes.len() <= 400 {
            for at in 1..bytes.len() {
                let pieces = [&bytes[..at], &bytes[at..]].into_iter().chain(last);
                let outcome = run(start(), pieces, echoes);
                assert_eq!(outcome, expected, "{} cut at {at}, server {}", self.number, M::IS_SERVER);
            }
        }
    }
}

/// The sizes of pieces for this number of bytes: all, or one, odd ones and those of the suite.
fn sizes(length: usize) -> Vec<usize> {
    let mut sizes = match length {
        0..=400 => (1..length).collect(),
        401..=70_000 => vec![1, 3, 64, 997, 4_096],
        70_001..=2_000_000 => vec![64, 128, 256, 512, 997, 1_024, 2_048],
        _ => Vec::new(),
    };
    sizes.push(length.max(1));
    sizes
}

/// Checks all rows of a table, which must be as many as the suite has.
#[track_caller]
fn check_all(rows: impl IntoIterator<Item = Case>, count: usize) {
    let mut numbers = Vec::new();
    for row in rows {
        row.check();
        numbers.push(row.number);
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "{numbers:?}");
}
