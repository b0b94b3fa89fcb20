//! Reading responses: the client's side.

use super::body::Body;
use super::error::{ParseError, Reason};
use super::framing::Framing;
use super::limits::{Limits, Packed};
use super::response_head::{ResponseHead, StatusLine, reason_phrase_in};
use super::scan::{HeadScanner, Partial, ScanStatus, feed};

/// Takes what is read. Every method does nothing unless it is implemented, so that reading without
/// keeping anything costs nothing; `()` is that sink.
pub trait ResponseSink {
    /// The head of the answer, before its body. Called once for each answer that has a head.
    fn head(&mut self, head: &ResponseHead<'_>) {
        let _ = head;
    }

    /// A piece of the body, never empty, framing taken off. How the body is cut means nothing.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// An interim (1xx) response before the answer.
    fn interim(&mut self, head: &ResponseHead<'_>) {
        let _ = head;
    }
}

impl ResponseSink for () {}

/// What one call of [`ResponseReader::read`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input that belong to the awaited answer. All of them while it is incomplete. Less
    /// than all when the answer ended inside the input, or when nothing is awaited: the rest is the
    /// next answer of a pipeline, or surplus that nobody asked for, and only the caller knows which.
    pub consumed: usize,
    /// The answer, if it is complete. `None` needs more bytes.
    pub answer: Option<ResponseEnd>,
}

/// A complete answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseEnd {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The connection may carry another request, by version, `Connection` and framing.
    pub keep_alive: bool,
    /// The peer said that it would close: `Connection: close`, HTTP/1.0 without keep-alive, or a body
    /// that only the close ends. Always the opposite of `keep_alive`; a close after it is no loss.
    pub close_announced: bool,
    /// Bytes of the body, framing taken off.
    pub body_bytes: u64,
    /// Bytes of the answer's own head; those of interim responses are not counted.
    pub head_bytes: u32,
}

/// What the peer's close means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eof {
    /// Nothing was awaited.
    Idle,
    /// The close ended the body, as it was meant to.
    Complete(ResponseEnd),
    /// An answer was awaited.
    Early {
        /// Whether any byte of it had come, interim responses included.
        began: bool,
    },
}

/// Reads the answers on one connection, one after the other.
///
/// [`Self::expect`], then [`Self::read`] with whatever arrives until it returns an [`ResponseEnd`]. After a
/// [`ParseError`] it returns that fault for ever.
#[derive(Debug)]
pub struct ResponseReader {
    limits: Packed,
    partial: Option<Box<Partial<StatusLine>>>,
    body: Body,
    head_bytes: u32,
    status: u16,
    interims: u16,
    stage: Stage,
    head_request: bool,
    keep_alive: bool,
    began: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    Head,
    Body,
    Failed(Reason),
}

impl ResponseReader {
    /// A reader that awaits nothing yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits: limits.into(),
            partial: None,
            body: Body::NONE,
            head_bytes: 0,
            status: 0,
            interims: 0,
            stage: Stage::Idle,
            head_request: false,
            keep_alive: false,
            began: false,
        }
    }

    /// Awaits the answer to one request, which was a HEAD or not. Pipelined requests are expected one
    /// after the other, each when the answer before it is complete.
    #[inline]
    pub fn expect(&mut self, head_request: bool) {
        assert!(self.stage == Stage::Idle, "an answer is awaited already");
        self.stage = Stage::Head;
        self.head_request = head_request;
        self.interims = 0;
        self.began = false;
    }

    /// Whether no answer is awaited.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// Whether any byte of the awaited answer has come, interim responses included.
    pub fn has_begun(&self) -> bool {
        self.began && self.stage != Stage::Idle
    }

    /// Reads as much of `input` as belongs to the awaited answer; see [`Progress`]. Bytes that were
    /// consumed must not be given again.
    #[inline]
    pub fn read<S: ResponseSink>(&mut self, input: &[u8], sink: &mut S) -> Result<Progress, ParseError> {
        match self.advance(input, sink) {
            Ok(progress) => Ok(progress),
            Err(reason) => {
                self.stage = Stage::Failed(reason);
                self.partial = None;
                Err(reason.into())
            }
        }
    }

    /// Whether an answer is awaited and no byte of it has come.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        self.stage == Stage::Head && !self.began
    }

    /// Whether the awaited answer is one to a HEAD.
    #[inline]
    pub(super) const fn answers_head(&self) -> bool {
        self.head_request
    }

    /// The awaited answer was found by other means.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.stage = Stage::Idle;
    }

    /// Takes note that the peer has closed, or half-closed, its side.
    pub fn eof(&mut self) -> Eof {
        match self.stage {
            Stage::Idle => Eof::Idle,
            Stage::Body if self.body.ends_at_close() => {
                self.stage = Stage::Idle;
                Eof::Complete(self.answer())
            }
            _ => Eof::Early { began: self.began },
        }
    }

    fn advance<S: ResponseSink>(&mut self, input: &[u8], sink: &mut S) -> Result<Progress, Reason> {
        let mut consumed = 0;
        while consumed < input.len() {
            let rest = &input[consumed..];
            match self.stage {
                Stage::Idle => break,
                Stage::Failed(reason) => return Err(reason),
                Stage::Head => {
                    self.began = true;
                    match feed(&mut self.partial, rest, &self.limits)? {
                        ScanStatus::More => return Ok(Progress { consumed: input.len(), answer: None }),
                        ScanStatus::Whole { head, scan, consumed: taken } => {
                            consumed += taken;
                            self.take_head(&head, &scan, sink)?;
                        }
                    }
                }
                Stage::Body => consumed += self.body.read(rest, &self.limits, |bytes| sink.body(bytes))?,
            }
            if self.stage == Stage::Body && self.body.is_done() {
                self.stage = Stage::Idle;
                return Ok(Progress { consumed, answer: Some(self.answer()) });
            }
        }
        Ok(Progress { consumed, answer: None })
    }

    #[inline]
    fn take_head<S: ResponseSink>(
        &mut self,
        raw: &[u8],
        scan: &HeadScanner<StatusLine>,
        sink: &mut S,
    ) -> Result<(), Reason> {
        let line = scan.start.expect("a whole head has a start line");
        let StatusLine { version, status } = line;
        let interim = status < 200;
        let bodiless = self.head_request || interim || status == 204 || status == 304;
        let framing = scan.facts.response_framing(version, bodiless)?;
        let head =
            ResponseHead { status, version, reason: reason_phrase_in(raw), raw, fields_at: scan.fields_at };
        if interim {
            return self.take_interim(&head, sink);
        }
        self.status = status;
        self.head_bytes = raw.len() as u32;
        self.keep_alive = scan.facts.persists(version) && framing != Framing::UntilClose;
        sink.head(&head);
        self.body = Body::start(framing, &self.limits)?;
        self.stage = Stage::Body;
        Ok(())
    }

    #[cold]
    fn take_interim<S: ResponseSink>(&mut self, head: &ResponseHead<'_>, sink: &mut S) -> Result<(), Reason> {
        if head.status == 101 {
            return Err(Reason::UnaskedUpgrade);
        }
        if self.interims >= self.limits.interim_max {
            return Err(Reason::TooManyInterim);
        }
        self.interims += 1;
        sink.interim(head);
        Ok(())
    }

    #[inline]
    fn answer(&self) -> ResponseEnd {
        ResponseEnd {
            status: self.status,
            keep_alive: self.keep_alive,
            close_announced: !self.keep_alive,
            body_bytes: self.body.bytes(),
            head_bytes: self.head_bytes,
        }
    }
}

impl Default for ResponseReader {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_arrives_whole_is_not_copied() {
        let mut reader = ResponseReader::default();
        reader.expect(false);
        let input = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe";
        assert_eq!(reader.read(input, &mut ()), Ok(Progress { consumed: input.len(), answer: None }));
        assert!(reader.partial.is_none());
    }

    #[test]
    fn the_buffer_of_a_split_head_is_freed_with_it() {
        let mut reader = ResponseReader::default();
        reader.expect(false);
        reader.read(b"HTTP/1.1 200 OK\r\nContent-", &mut ()).unwrap();
        assert!(reader.partial.is_some());
        reader.read(b"Length: 5\r\n\r\nhe", &mut ()).unwrap();
        assert!(reader.partial.is_none());
    }

    /// A line of some MiB in single bytes: reading it again for every byte would take hours.
    #[test]
    fn trickled_bytes_take_linear_time_and_limited_memory() {
        let head_bytes_max = 4 << 20;
        let mut reader = ResponseReader::new(Limits { head_bytes_max, ..Limits::default() });
        reader.expect(false);
        reader.read(b"HTTP/1.1 200 OK\r\nA: ", &mut ()).unwrap();
        let mut sent = 20;
        let fault = loop {
            sent += 1;
            match reader.read(b"b", &mut ()) {
                Ok(progress) => assert_eq!(progress.consumed, 1),
                Err(fault) => break fault,
            }
        };
        assert_eq!((sent, fault.reason), (head_bytes_max + 1, Reason::HeadTooLarge));
        assert!(reader.partial.is_none());
    }

    #[test]
    fn a_reader_is_small() {
        assert!(size_of::<ResponseReader>() <= 72, "{} bytes", size_of::<ResponseReader>());
    }
}
