//! Reading requests: the server's side.

use super::body::Body;
use super::error::{ParseError, Reason};
use super::limits::{Limits, Packed};
use super::request_head::{RequestHead, RequestLine};
use super::scan::{HeadScanner, Partial, ScanStatus, feed};

/// Receives what is read. Every method does nothing unless it is implemented; `()` is that sink.
pub trait RequestSink {
    /// The head of a request, before its body. With `expect_continue` the client may be waiting for
    /// `100 Continue`: the server sends it if [`RequestReader::read`] then returns no request.
    fn head(&mut self, head: &RequestHead<'_>) {
        let _ = head;
    }

    /// A piece of the body, never empty, without framing. How the body is cut has no meaning.
    fn body(&mut self, bytes: &[u8]) {
        let _ = bytes;
    }
}

impl RequestSink for () {}

/// The result of one call of [`RequestReader::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestProgress {
    /// Bytes of the input that were consumed: all of them, unless a request ended inside it. The
    /// rest must be passed again: it is the next request of a pipeline.
    pub consumed: usize,
    /// The end of a request, if it is complete. `None` needs more bytes.
    pub request: Option<RequestEnd>,
}

/// A complete request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestEnd {
    /// The client is willing to send another request on this connection.
    pub keep_alive: bool,
    /// The request was HTTP/1.0: a response that keeps the connection must say so.
    pub http_10: bool,
    /// The request was a HEAD: its response has no body.
    pub head_request: bool,
    /// Bytes of the body, without framing.
    pub body_bytes: u64,
}

/// The meaning of the client's close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEof {
    /// Between requests, as it should be.
    Idle,
    /// In the middle of a request.
    Early,
}

/// Reads the requests on one connection, one after the other, always awaiting the next one. After a
/// [`ParseError`] every call returns that fault again.
#[derive(Debug)]
pub struct RequestReader {
    limits: Packed,
    partial: Option<Box<Partial<RequestLine>>>,
    body: Body,
    stage: Stage,
    /// Blank lines seen before this request.
    blank_lines: u8,
    keep_alive: bool,
    http_10: bool,
    head_request: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Before the first byte of a request; blank lines may come.
    Between,
    /// The CR of a blank line was read.
    BlankLf,
    Head,
    Body,
    Failed(Reason),
}

/// Blank lines skipped before a request. RFC 9112 §2.2 asks for at least one; old clients send it
/// after a POST.
const BLANK_LINES_MAX: u8 = 8;

impl RequestReader {
    /// Creates a reader that awaits the first request of a connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits: limits.into(),
            partial: None,
            body: Body::NONE,
            stage: Stage::Between,
            blank_lines: 0,
            keep_alive: false,
            http_10: false,
            head_request: false,
        }
    }

    /// Whether no part of a next request has arrived.
    pub fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Between | Stage::BlankLf)
    }

    /// Whether no byte has arrived since the last request. The next bytes then mean what they would
    /// on a new connection.
    #[inline]
    pub fn is_fresh(&self) -> bool {
        self.stage == Stage::Between && self.blank_lines == 0
    }

    /// Reads as much of `input` as belongs to the current request; see [`RequestProgress`]. Call it
    /// again with the rest until it is empty or `request` is `None`.
    #[inline]
    pub fn read<S: RequestSink>(
        &mut self,
        input: &[u8],
        sink: &mut S,
    ) -> Result<RequestProgress, ParseError> {
        match self.advance(input, sink) {
            Ok(progress) => Ok(progress),
            Err(reason) => {
                self.stage = Stage::Failed(reason);
                self.partial = None;
                Err(reason.into())
            }
        }
    }

    /// Records that the client has closed its side.
    pub fn eof(&mut self) -> RequestEof {
        if self.is_idle() { RequestEof::Idle } else { RequestEof::Early }
    }

    fn advance<S: RequestSink>(&mut self, input: &[u8], sink: &mut S) -> Result<RequestProgress, Reason> {
        let mut consumed = 0;
        while consumed < input.len() {
            let rest = &input[consumed..];
            match self.stage {
                Stage::Failed(reason) => return Err(reason),
                Stage::Between | Stage::BlankLf => consumed += self.skip_blank(rest[0])?,
                Stage::Head => match feed(&mut self.partial, rest, &self.limits)? {
                    ScanStatus::More => return Ok(RequestProgress { consumed: input.len(), request: None }),
                    ScanStatus::Whole { head, scan, consumed: taken } => {
                        consumed += taken;
                        self.take_head(&head, &scan, sink)?;
                    }
                },
                Stage::Body => consumed += self.body.read(rest, &self.limits, |bytes| sink.body(bytes))?,
            }
            if self.stage == Stage::Body && self.body.is_done() {
                self.stage = Stage::Between;
                self.blank_lines = 0;
                return Ok(RequestProgress { consumed, request: Some(self.end()) });
            }
        }
        Ok(RequestProgress { consumed, request: None })
    }

    /// Looks at one byte between requests and returns how many were used up: none if a request
    /// begins.
    #[inline]
    fn skip_blank(&mut self, byte: u8) -> Result<usize, Reason> {
        match (self.stage, byte) {
            (Stage::Between, b'\r') => self.stage = Stage::BlankLf,
            (_, b'\n') => {
                self.stage = Stage::Between;
                self.blank_lines += 1;
                if self.blank_lines > BLANK_LINES_MAX {
                    return Err(Reason::TooManyBlankLines);
                }
            }
            (Stage::BlankLf, _) => return Err(Reason::BareCr),
            _ => {
                self.stage = Stage::Head;
                return Ok(0);
            }
        }
        Ok(1)
    }

    #[inline]
    fn take_head<S: RequestSink>(
        &mut self,
        raw: &[u8],
        scan: &HeadScanner<RequestLine>,
        sink: &mut S,
    ) -> Result<(), Reason> {
        let line = scan.start.expect("a whole head has a start line");
        let version = line.version;
        scan.facts.check_host(version)?;
        let framing = scan.facts.request_framing(version)?;
        let method = &raw[..line.method_end];
        self.http_10 = version.is_10();
        self.keep_alive = scan.facts.persists(version);
        self.head_request = method == b"HEAD";
        sink.head(&RequestHead {
            method,
            target: &raw[line.method_end + 1..line.target_end],
            version,
            expect_continue: scan.facts.expects_continue() && !version.is_10(),
            raw,
            fields_at: scan.fields_at,
        });
        self.body = Body::start(framing, &self.limits)?;
        self.stage = Stage::Body;
        Ok(())
    }

    #[inline]
    fn end(&self) -> RequestEnd {
        RequestEnd {
            keep_alive: self.keep_alive,
            http_10: self.http_10,
            head_request: self.head_request,
            body_bytes: self.body.bytes(),
        }
    }
}

impl Default for RequestReader {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}
