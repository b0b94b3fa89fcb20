//! [`Client`]: the client's side of an event stream.

use super::error::Fault;
use super::parser::EventParser;
use crate::h1::{Limits, OpenBody, ResponseHead, ResponseReader, ResponseSink};
use crate::ws::ClientSink;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No stream was requested.
    Plain,
    /// The request was sent.
    Requested,
    /// Events arrive.
    Open,
    /// The stream has ended, or the server refused it.
    Over,
    /// The server broke the protocol.
    Broken(Fault),
}

/// The client's side of an event stream; see the [module](super).
#[derive(Debug)]
pub struct Client {
    state: State,
    reader: ResponseReader,
    parser: EventParser,
    /// The maximum size of an event.
    event_bytes_max: usize,
    out: Vec<u8>,
}

impl Client {
    /// Creates the machine of a new connection. The limit on a body is that of one event.
    pub fn new(limits: Limits) -> Self {
        Self {
            state: State::Plain,
            reader: ResponseReader::new(endless(limits)),
            parser: EventParser::default(),
            event_bytes_max: usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX),
            out: Vec::new(),
        }
    }

    /// Creates the machine of an open stream that was [idle](Self::idle_body), with the last id.
    pub fn resume(limits: Limits, body: OpenBody, id: &[u8]) -> Self {
        Self {
            state: State::Open,
            reader: ResponseReader::resume(endless(limits), body),
            parser: EventParser::resume(id.to_owned()),
            ..Self::new(limits)
        }
    }

    /// The bytes to send. The caller removes what it sends.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Whether events arrive.
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open)
    }

    /// Whether a stream was requested, so that another one needs a new connection.
    pub const fn is_used(&self) -> bool {
        !matches!(self.state, State::Plain)
    }

    /// The last id of the stream; empty: there is none.
    pub fn last_id(&self) -> &[u8] {
        &self.parser.id
    }

    /// Returns the framing of the open stream if it has no other state than its last id, so that
    /// [`resume`](Self::resume) is equivalent.
    pub fn idle_body(&self) -> Option<OpenBody> {
        let is_idle = self.is_open() && self.parser.is_idle() && self.out.is_empty();
        self.reader.open_body().filter(|_| is_idle)
    }

    /// Requests a stream. `request` is a whole HTTP request without `Last-Event-ID`, which gets
    /// `last_id` unless that is empty.
    pub fn connect(&mut self, request: &[u8], last_id: &[u8]) {
        match request.strip_suffix(b"\r\n") {
            Some(fields) if !last_id.is_empty() => {
                for part in [fields, b"Last-Event-ID: ", last_id, b"\r\n\r\n"] {
                    self.out.extend_from_slice(part);
                }
            }
            _ => self.out.extend_from_slice(request),
        }
        last_id.clone_into(&mut self.parser.id);
        self.reader.expect(false);
        self.state = State::Requested;
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// The fault of the server. The connection must be closed.
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink) -> Result<(), Fault> {
        match self.state {
            State::Broken(fault) => return Err(fault),
            State::Plain | State::Over => return Ok(()),
            State::Requested | State::Open => {}
        }
        let Self { state, reader, parser, event_bytes_max, .. } = self;
        let mut intake = Intake { state, parser, most: *event_bytes_max, sink };
        let read = reader.read(input, &mut intake);
        match (read, &self.state) {
            (_, &State::Broken(fault)) => return Err(fault),
            (_, State::Over) => {}
            (Err(fault), _) => {
                self.state = State::Broken(Fault::Http(fault));
                return Err(Fault::Http(fault));
            }
            (Ok(progress), _) if progress.answer.is_some() => {
                self.state = State::Over;
                sink.ended();
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the limits on a response without one on its body, which does not end.
fn endless(limits: Limits) -> Limits {
    Limits { body_bytes_max: u64::MAX, ..limits }
}

/// Receives the response with the stream.
struct Intake<'a, S> {
    state: &'a mut State,
    parser: &'a mut EventParser,
    most: usize,
    sink: &'a mut S,
}

impl<S: ClientSink> ResponseSink for Intake<'_, S> {
    fn head(&mut self, head: &ResponseHead<'_>) {
        let media_type = head.header("content-type").unwrap_or_default();
        let media_type = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let coding = head.header("content-encoding").map(<[u8]>::trim_ascii);
        *self.state = if head.status != 200 {
            self.sink.refused(head);
            State::Over
        } else if !media_type.eq_ignore_ascii_case(b"text/event-stream") {
            State::Broken(Fault::NotEvents)
        } else if coding.is_some_and(|coding| !coding.eq_ignore_ascii_case(b"identity")) {
            State::Broken(Fault::Encoded)
        } else {
            self.sink.upgraded(head);
            State::Open
        };
    }

    fn body(&mut self, bytes: &[u8]) {
        if *self.state == State::Open
            && let Err(fault) = self.parser.read(bytes, self.most, self.sink)
        {
            *self.state = State::Broken(fault);
        }
    }
}
