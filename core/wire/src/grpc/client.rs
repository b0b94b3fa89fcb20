//! [`Client`]: the client's side of one call.

use wavetank_units::registered;

use memchr::memmem;

use super::end_frame::CLIENT_END;
use super::{END, PREFIX_BYTES};
use crate::ws::{ClientSink, MessageKind};

/// The largest head of a response.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A fault of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A frame with an unknown flag.
    Frame,
    /// A message that is larger than its limit.
    MessageTooLarge,
    /// A head that is larger than its limit.
    HeadTooLarge,
}

impl Fault {
    /// Describes the fault.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Frame => registered!("a gRPC frame has an unknown flag"),
            Self::MessageTooLarge => registered!("a gRPC message is larger than its limit"),
            Self::HeadTooLarge => registered!("the head of a response is larger than its limit"),
        }
    }
}

/// The end of a call, as the server reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEnd<'a> {
    /// The status of gRPC; that of HTTP, if it is an error and there is no other.
    pub status: u16,
    /// The fields of the head and the trailers, as lines.
    pub lines: &'a [u8],
    /// Where the trailers begin in `lines`.
    pub trailers_at: usize,
    /// The messages since the client has ended its side were passed on as one answer, which is
    /// complete now.
    pub is_answer: bool,
    /// The bytes of that answer.
    pub length: u64,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is none.
    Plain,
    /// Both sides may send messages.
    Open,
    /// The client has ended its side, and waits for the end.
    Ending,
    /// The server has ended the call, and no step knows it yet.
    Ended,
    /// The call is over.
    Over,
    /// The server broke the protocol.
    Broken(Fault),
}

/// See the [module](super). There is at most one call.
#[derive(Debug)]
pub struct Client {
    state: State,
    /// The head of the response, as far as it has arrived; later its fields, at the end with the
    /// trailers.
    head: Vec<u8>,
    /// Where the trailers begin in `head`, at the end.
    trailers_at: usize,
    has_head: bool,
    prefix: [u8; PREFIX_BYTES],
    /// Bytes of the prefix that have arrived.
    prefix_len: usize,
    /// Bytes of the frame that must still arrive.
    left: u32,
    /// Status and trailers of the end.
    end: Vec<u8>,
    /// The messages are one answer.
    is_answer: bool,
    /// Something of that answer has arrived.
    has_begun: bool,
    /// Bytes of the current message, or of that answer.
    length: u64,
    message_bytes_max: u64,
    out: Vec<u8>,
}

impl Client {
    /// Creates the machine of a new stream, with the limit on one message.
    pub const fn new(message_bytes_max: u64) -> Self {
        Self {
            state: State::Plain,
            head: Vec::new(),
            trailers_at: 0,
            has_head: false,
            prefix: [0; PREFIX_BYTES],
            prefix_len: 0,
            left: 0,
            end: Vec::new(),
            is_answer: false,
            has_begun: false,
            length: 0,
            message_bytes_max,
            out: Vec::new(),
        }
    }

    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether there is a call that is not over.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open | State::Ending | State::Ended)
    }

    /// Whether there was a call, so that another one needs a new stream.
    pub const fn is_used(&self) -> bool {
        !matches!(self.state, State::Plain)
    }

    /// Whether messages can be sent.
    pub const fn takes_messages(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether the call has ended before a step asked for that.
    pub const fn has_unread(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// Starts a call, with the head of its request.
    pub fn open(&mut self, request: &[u8]) {
        self.out.extend_from_slice(request);
        self.state = State::Open;
    }

    /// Makes a whole call, with its request. All messages of the server are one answer.
    pub fn call(&mut self, request: &[u8]) {
        self.out.extend_from_slice(request);
        self.out.extend_from_slice(&CLIENT_END);
        (self.state, self.is_answer) = (State::Ending, true);
    }

    /// Sends messages, which are whole frames.
    pub fn send(&mut self, frames: &[u8]) {
        self.out.extend_from_slice(frames);
    }

    /// Ends the client's side. The messages that follow are one answer.
    pub fn end(&mut self) {
        self.out.extend_from_slice(&CLIENT_END);
        (self.is_answer, self.length) = (true, 0);
        if self.state == State::Open {
            self.state = State::Ending;
        }
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// The fault of the server. The stream must be closed.
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        match self.state {
            State::Broken(fault) => return Err(fault),
            State::Plain | State::Over => return Ok(()),
            State::Ended => {
                self.report_end(sink);
                return Ok(());
            }
            State::Open | State::Ending => {}
        }
        let read = self.read_frames(input, sink);
        if let Err(fault) = read {
            self.state = State::Broken(fault);
        }
        read
    }

    fn read_frames(&mut self, mut input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        if !self.has_head {
            input = self.read_head(input)?;
        }
        while !input.is_empty() && matches!(self.state, State::Open | State::Ending) {
            if self.is_answer && !std::mem::replace(&mut self.has_begun, true) {
                sink.answer_begins();
            }
            input = if self.prefix_len < PREFIX_BYTES {
                self.read_prefix(input, sink)?
            } else {
                self.read_content(input, sink)
            };
        }
        Ok(())
    }

    /// Reads a piece of the head. Returns the rest.
    fn read_head<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Fault> {
        let before = self.head.len();
        self.head.extend_from_slice(input);
        let Some(end) = memmem::find(&self.head[before.saturating_sub(3)..], b"\r\n\r\n") else {
            return if self.head.len() > HEAD_BYTES_MAX { Err(Fault::HeadTooLarge) } else { Ok(b"") };
        };
        let end = before.saturating_sub(3) + end + 4;
        if end > HEAD_BYTES_MAX {
            return Err(Fault::HeadTooLarge);
        }
        self.head.truncate(end);
        let line = memmem::find(&self.head, b"\r\n").map_or(0, |at| at + 2);
        self.head.drain(..line);
        self.has_head = true;
        Ok(&input[end - before..])
    }

    /// Reads a piece of the bytes before a message. Returns the rest.
    fn read_prefix<'a>(&mut self, input: &'a [u8], sink: &mut impl ClientSink) -> Result<&'a [u8], Fault> {
        let taken = input.len().min(PREFIX_BYTES - self.prefix_len);
        self.prefix[self.prefix_len..self.prefix_len + taken].copy_from_slice(&input[..taken]);
        self.prefix_len += taken;
        if self.prefix_len == PREFIX_BYTES {
            let [flag, length @ ..] = self.prefix;
            self.left = u32::from_be_bytes(length);
            match flag {
                END if self.left == 0 => self.finish(sink),
                END => {}
                0 | 1 if u64::from(self.left) > self.message_bytes_max => return Err(Fault::MessageTooLarge),
                0 | 1 => self.begin_message(sink),
                _ => return Err(Fault::Frame),
            }
        }
        Ok(&input[taken..])
    }

    fn begin_message(&mut self, sink: &mut impl ClientSink) {
        if !self.is_answer {
            sink.begin(MessageKind::Binary);
            self.length = 0;
        }
        self.length += PREFIX_BYTES as u64 + u64::from(self.left);
        sink.piece(&self.prefix);
        if self.left == 0 {
            self.end_message(sink);
        }
    }

    fn end_message(&mut self, sink: &mut impl ClientSink) {
        self.prefix_len = 0;
        if self.is_answer {
            sink.answer_part();
        } else {
            sink.end(self.length);
        }
    }

    /// Reads a piece of a message, or of the end. Returns the rest.
    fn read_content<'a>(&mut self, input: &'a [u8], sink: &mut impl ClientSink) -> &'a [u8] {
        let (piece, rest) = input.split_at(input.len().min(self.left as usize));
        self.left -= piece.len() as u32;
        if self.prefix[0] == END {
            self.end.extend_from_slice(piece);
            if self.left == 0 {
                self.finish(sink);
            }
            return rest;
        }
        sink.piece(piece);
        if self.left == 0 {
            self.end_message(sink);
        }
        rest
    }

    fn finish(&mut self, sink: &mut impl ClientSink) {
        self.state = State::Ended;
        let trailers = self.end.split_off(self.end.len().min(2));
        if !trailers.is_empty() {
            // The empty line at the end of the fields moves behind the trailers.
            self.head.truncate(self.head.len().saturating_sub(2));
        }
        self.trailers_at = self.head.len();
        self.head.extend_from_slice(&trailers);
        self.report_end(sink);
    }

    /// Reports the end of the call, if a step waits for it.
    fn report_end(&mut self, sink: &mut impl ClientSink) {
        let status = self.end.first_chunk().unwrap_or(&[0, 2]);
        let (is_answer, length) = (self.is_answer, if self.is_answer { self.length } else { 0 });
        let (status, trailers_at) = (u16::from_be_bytes(*status), self.trailers_at);
        let end = CallEnd { status, lines: &self.head, trailers_at, is_answer, length };
        if sink.call_ended(&end) {
            self.state = State::Over;
        }
    }
}
