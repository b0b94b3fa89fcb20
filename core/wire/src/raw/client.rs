//! [`Client`]: the client's side of a TCP connection.

use wavetank_units::registered;

use memchr::memmem;

use crate::datagram::MatchedRange;
use crate::ws::{ClientSink, MessageKind};

/// The number of bytes that are kept while no step reads.
const UNREAD_BYTES_MAX: usize = 1 << 20;

/// How much of what the server sends is one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadRule<'a> {
    /// What has arrived, at least one byte.
    Any,
    /// Everything up to and including these bytes.
    Until(&'a [u8]),
    /// This number of bytes.
    Length(u64),
    /// A length in this number of bytes, the highest first, and as many bytes after it.
    Prefix(u8),
    /// Everything until the server closes the connection.
    Close,
    /// One datagram of UDP, with the same bytes as the request at this range.
    Datagram(Option<MatchedRange>),
}

const ANY: u8 = 0;
const UNTIL: u8 = 1;
const LENGTH: u8 = 2;
const PREFIX: u8 = 3;
const CLOSE: u8 = 4;
const DATAGRAM: u8 = 5;

impl<'a> ReadRule<'a> {
    /// Writes the rule in front of a payload.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let (tag, length) = match self {
            Self::Any => (ANY, 0),
            Self::Until(delimiter) => (UNTIL, delimiter.len() as u64),
            Self::Length(length) => (LENGTH, length),
            Self::Prefix(bytes) => (PREFIX, bytes.into()),
            Self::Close => (CLOSE, 0),
            Self::Datagram(matched) => {
                (DATAGRAM, matched.map_or(0, |at| u64::from(at.offset) << 16 | u64::from(at.length)))
            }
        };
        out.push(tag);
        out.extend_from_slice(&length.to_be_bytes());
        if let Self::Until(delimiter) = self {
            out.extend_from_slice(delimiter);
        }
    }

    /// Reads a rule and returns it with the payload behind it.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (&tag, rest) = bytes.split_first()?;
        let (length, rest) = rest.split_first_chunk()?;
        let length = u64::from_be_bytes(*length);
        Some(match tag {
            UNTIL => {
                let (delimiter, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                (Self::Until(delimiter), rest)
            }
            LENGTH => (Self::Length(length), rest),
            PREFIX => (Self::Prefix(u8::try_from(length).ok()?), rest),
            CLOSE => (Self::Close, rest),
            DATAGRAM => {
                let range = MatchedRange { offset: (length >> 16) as u16, length: length as u16 };
                (Self::Datagram((range.length > 0).then_some(range)), rest)
            }
            _ => (Self::Any, rest),
        })
    }
}

/// A rule that outlives its step.
#[derive(Clone, Debug)]
enum Awaited {
    Any,
    Until(Box<[u8]>),
    Length(u64),
    Prefix(u8),
    Close,
}

impl From<ReadRule<'_>> for Awaited {
    fn from(rule: ReadRule<'_>) -> Self {
        match rule {
            ReadRule::Any | ReadRule::Datagram(_) => Self::Any,
            ReadRule::Until(delimiter) => Self::Until(delimiter.into()),
            ReadRule::Length(length) => Self::Length(length),
            ReadRule::Prefix(bytes) => Self::Prefix(bytes),
            ReadRule::Close => Self::Close,
        }
    }
}

/// What ends the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An answer is longer than the limit.
    AnswerTooLong,
    /// The server sends bytes that no step reads.
    Unread,
}

impl Fault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::AnswerTooLong => registered!("the answer is longer than the limit"),
            Self::Unread => registered!("the server sent more than 1 MiB that no step has read"),
        }
    }
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Plain,
    Open,
    Broken(Fault),
}

/// The client's side of a TCP connection; see the [module](super).
#[derive(Debug)]
pub struct Client {
    state: State,
    /// What a step waits for.
    awaited: Option<Awaited>,
    /// The bytes that were not read by a step.
    buffer: Vec<u8>,
    /// The number of bytes in `buffer` that were searched for a delimiter.
    searched: usize,
    /// The bytes of the answer that were passed on before.
    passed: u64,
    /// The sink knows that the answer has begun.
    is_announced: bool,
    /// Whether bytes are kept for a later step.
    keeps: bool,
    answer_bytes_max: u64,
    out: Vec<u8>,
}

impl Client {
    /// Creates the machine of a new connection. `keeps`: some step reads bytes that arrived before
    /// it started.
    pub const fn new(answer_bytes_max: u64, keeps: bool) -> Self {
        Self {
            state: State::Plain,
            awaited: None,
            buffer: Vec::new(),
            searched: 0,
            passed: 0,
            is_announced: false,
            keeps,
            answer_bytes_max,
            out: Vec::new(),
        }
    }

    /// Creates the machine of an open connection that was [idle](Self::is_idle).
    pub const fn resume(answer_bytes_max: u64, keeps: bool) -> Self {
        let mut client = Self::new(answer_bytes_max, keeps);
        client.state = State::Open;
        client
    }

    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether bytes can be sent.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether the connection has no state.
    pub const fn is_idle(&self) -> bool {
        self.is_open() && self.buffer.is_empty() && self.out.is_empty() && self.awaited.is_none()
    }

    /// Whether an answer is awaited.
    pub const fn is_waiting(&self) -> bool {
        self.awaited.is_some()
    }

    /// Whether bytes have arrived that no step has read.
    pub const fn has_unread(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Uses the connection.
    pub const fn connect(&mut self) {
        self.state = State::Open;
    }

    /// Sends bytes.
    pub fn send(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Waits for an answer. Bytes that have arrived before may complete it in the next
    /// [`read`](Self::read), also without further bytes.
    pub fn wait(&mut self, rule: ReadRule<'_>) {
        (self.awaited, self.searched, self.passed, self.is_announced) = (Some(rule.into()), 0, 0, false);
    }

    /// Waits no longer. What has arrived of the answer belongs to the next one.
    pub fn stop_waiting(&mut self) {
        self.awaited = None;
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// The fault that ends the connection.
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        if let State::Broken(fault) = self.state {
            return Err(fault);
        }
        self.take(input, sink).inspect_err(|&fault| {
            (self.state, self.buffer, self.awaited) = (State::Broken(fault), Vec::new(), None);
        })
    }

    /// Handles the end of what the server sends. Returns whether it completes an answer.
    pub fn end(&mut self, sink: &mut impl ClientSink) -> bool {
        let is_awaited = matches!(self.awaited, Some(Awaited::Close)) && self.is_open();
        if is_awaited {
            self.announce(sink);
            self.awaited = None;
            sink.end(self.passed);
        }
        is_awaited
    }

    fn take(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        self.buffer.extend_from_slice(input);
        if self.buffer.is_empty() {
            return Ok(());
        }
        let Some(awaited) = &self.awaited else {
            if !self.keeps {
                self.buffer.clear();
            }
            return if self.buffer.len() > UNREAD_BYTES_MAX { Err(Fault::Unread) } else { Ok(()) };
        };
        let held = self.buffer.len() as u64;
        let length = match awaited {
            Awaited::Any => Some(held),
            Awaited::Until(delimiter) => {
                // The delimiter may have been cut between two reads.
                let from = self.searched.saturating_sub(delimiter.len().saturating_sub(1));
                let found = memmem::find(&self.buffer[from..], delimiter);
                self.searched = self.buffer.len();
                found.map(|at| (from + at + delimiter.len()) as u64)
            }
            &Awaited::Length(length) => Some(length),
            &Awaited::Prefix(bytes) => self.buffer.get(..bytes.into()).map(|prefix| {
                let length = prefix.iter().fold(0_u64, |all, &byte| all << 8 | u64::from(byte));
                length.saturating_add(bytes.into())
            }),
            Awaited::Close => None,
        };
        let is_unlimited = matches!(awaited, Awaited::Close);
        self.announce(sink);
        if length.unwrap_or(self.passed.saturating_add(held)) > self.answer_bytes_max {
            return Err(Fault::AnswerTooLong);
        }
        if is_unlimited {
            sink.piece(&self.buffer);
            self.passed += held;
            self.buffer.clear();
            return Ok(());
        }
        let Some(length) = length.filter(|&length| length <= held) else { return Ok(()) };
        let rest = if self.keeps { self.buffer.split_off(length as usize) } else { Vec::new() };
        self.buffer.truncate(length as usize);
        self.awaited = None;
        if length > 0 {
            sink.piece(&self.buffer);
        }
        sink.end(length);
        self.buffer = rest;
        if self.buffer.len() > UNREAD_BYTES_MAX { Err(Fault::Unread) } else { Ok(()) }
    }

    fn announce(&mut self, sink: &mut impl ClientSink) {
        if !std::mem::replace(&mut self.is_announced, true) {
            sink.begin(MessageKind::Binary);
        }
    }
}
