//! Reading responses: the client's side.

use super::body::{Body, OpenBody};
use super::error::{ParseError, Reason};
use super::framing::Framing;
use super::limits::{Limits, Packed};
use super::response_head::{ResponseHead, StatusLine, reason_phrase_in};
use super::scan::{HeadScanner, Partial, ScanStatus, feed};

/// Receives what is read. Every method does nothing unless it is implemented, so reading without
/// keeping anything costs nothing; `()` is that sink.
pub trait ResponseSink {
    /// The head of the response, before its body. Called once for each response that has a head.
    fn head(&mut self, head: &ResponseHead<'_>) {
        let _ = head;
    }

    /// A piece of the body, never empty, without framing. How the body is cut has no meaning.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// The trailers of the response, as lines with an empty one after them. HTTP/1 reports none.
    fn trailers(&mut self, lines: &[u8]) {
        let _ = lines;
    }

    /// The fields of a gRPC call that stayed open, at its end, as lines: those of the head, and
    /// from `trailers_at` on the trailers.
    fn call_fields(&mut self, lines: &[u8], trailers_at: usize) {
        let _ = trailers_at;
        self.trailers(lines);
    }

    /// An interim (1xx) response before the final one.
    fn interim(&mut self, head: &ResponseHead<'_>) {
        let _ = head;
    }
}

impl ResponseSink for () {}

/// The result of one call of [`ResponseReader::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input that belong to the awaited response: all of them while it is incomplete.
    ///
    /// It is less than all when the response ended inside the input, or when no response is
    /// awaited. The rest is either the next response of a pipeline or surplus data that was not
    /// requested. Only the caller can distinguish these.
    pub consumed: usize,
    /// The response, if it is complete. `None` needs more bytes.
    pub answer: Option<ResponseEnd>,
}

/// A complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseEnd {
    /// The status code, 100 to 999.
    pub status: u16,
    /// The connection may carry another request, by version, `Connection` and framing.
    pub keep_alive: bool,
    /// The peer announced that it would close: `Connection: close`, HTTP/1.0 without keep-alive, or
    /// a body that ends with the close. Always the opposite of `keep_alive`; a close after it is
    /// not an error.
    pub close_announced: bool,
    /// Bytes of the body, without framing.
    pub body_bytes: u64,
    /// Bytes of the final response's head; those of interim responses are not counted.
    pub head_bytes: u32,
}

/// The meaning of the peer's close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eof {
    /// No response was awaited.
    Idle,
    /// The close ended the body, as the framing requires.
    Complete(ResponseEnd),
    /// A response was awaited.
    Early {
        /// Whether any byte of it had arrived, including interim responses.
        began: bool,
    },
}

/// Reads the responses on one connection, one after the other.
///
/// Call [`Self::expect`], then [`Self::read`] with the bytes that arrive until it returns a
/// [`ResponseEnd`]. After a [`ParseError`] every call returns that fault again.
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
    /// Creates a reader that does not await a response yet.
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

    /// Forgets the awaited response, for the next connection. The limits stay.
    #[inline]
    pub fn restart(&mut self) {
        self.partial = None;
        self.stage = Stage::Idle;
    }

    /// Creates a reader that continues with the body of a response.
    pub fn resume(limits: Limits, body: OpenBody) -> Self {
        Self { body: Body::resume(body), stage: Stage::Body, began: true, ..Self::new(limits) }
    }

    /// Returns how the body continues, if [`resume`](Self::resume) is equivalent.
    pub fn open_body(&self) -> Option<OpenBody> {
        self.body.open_body().filter(|_| self.stage == Stage::Body)
    }

    /// Awaits the response to one request, which was a HEAD or not. Pipelined requests are expected
    /// one after the other, each when the response before it is complete.
    #[inline]
    pub fn expect(&mut self, head_request: bool) {
        assert!(self.stage == Stage::Idle, "an answer is awaited already");
        self.stage = Stage::Head;
        self.head_request = head_request;
        self.interims = 0;
        self.began = false;
    }

    /// Whether no response is awaited.
    pub fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// Whether any byte of the awaited response has arrived, including interim responses.
    pub fn has_begun(&self) -> bool {
        self.began && self.stage != Stage::Idle
    }

    /// Reads as much of `input` as belongs to the awaited response; see [`Progress`]. Bytes that
    /// were consumed must not be passed again.
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

    /// Whether a response is awaited and no byte of it has arrived.
    #[inline]
    pub(super) fn is_fresh(&self) -> bool {
        self.stage == Stage::Head && !self.began
    }

    /// Whether the awaited response is one to a HEAD.
    #[inline]
    pub(super) const fn answers_head(&self) -> bool {
        self.head_request
    }

    /// Marks the awaited response as complete, because it was found by other means.
    #[inline]
    pub(super) fn skip(&mut self) {
        self.stage = Stage::Idle;
    }

    /// Records that the peer has closed, or half-closed, its side.
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
        let framing = scan.facts.response_framing(bodiless);
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

    #[test]
    fn a_restarted_reader_has_forgotten_what_it_read() {
        let whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        let mut expected = ResponseReader::default();
        expected.expect(true);
        let last = b"HTTP/1.0 404 No\r\nContent-Length: 5\r\n\r\n";
        let expected = expected.read(last, &mut ());
        for cut in 0..=whole.len() {
            let mut reader = ResponseReader::default();
            reader.expect(false);
            reader.read(&whole[..cut], &mut ()).unwrap();
            reader.restart();
            assert!(reader.is_idle() && !reader.has_begun() && reader.partial.is_none(), "{cut}");
            reader.expect(true);
            assert_eq!(reader.read(last, &mut ()), expected, "{cut}");
        }
        let mut reader = ResponseReader::default();
        reader.expect(false);
        reader.read(b"SSH-2.0", &mut ()).unwrap_err();
        reader.restart();
        reader.expect(true);
        assert_eq!(reader.read(last, &mut ()), expected, "after a fault");
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
