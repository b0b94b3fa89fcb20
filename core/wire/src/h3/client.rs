//! [`Client`]: the client's side of an HTTP/3 connection.

use super::frame_reader::{FrameReader, Piece};
use super::qpack::{Decoder, Encoder};
use super::records::{self, Record, RecordKind};
use super::uni_streams::UniStreams;
use super::{abort, frame, push_control_stream, push_frame_header};
use crate::h1::{Limits, ResponseEnd, ResponseHead, Version};
use crate::h2::request_text::{RequestText, without_chunks};
use crate::h2::response_fields::{self, ResponseFields};
use crate::h2::{ClientSink, ErrorCode, Fault, StreamFailure};

/// The most requests in flight. Servers allow at least a hundred (RFC 9114 §6.1).
const STREAMS_MAX: usize = 100;
/// The most interim responses to a request.
const INTERIMS_MAX: u32 = 32;
/// The most frames of a response without any progress.
const IDLE_FRAMES_MAX: u32 = 10_000;
/// Our control stream: the first of a client in one direction.
const CONTROL_STREAM: u64 = 2;
/// The distance between two streams of a client in both directions.
const STREAM_STEP: u64 = 4;
/// The last stream that is used.
const STREAM_MAX: u64 = 1 << 31;

/// The client's side of a connection.
///
/// Requests are HTTP/1 text. [Records](records) to be sent are appended to [`out`](Self::out).
/// After a [`Fault`], every call of [`read`](Self::read) returns it again.
#[derive(Debug)]
pub struct Client<T> {
    out: Vec<u8>,
    limits: Limits,
    /// Streams in use, in ascending order.
    streams: Vec<Stream<T>>,
    next_id: u64,
    peer: UniStreams,
    decoder: Decoder,
    fields: ResponseFields,
    scratch: Vec<u8>,
    failed: Option<Fault>,
}

/// One request in flight.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
struct Stream<T> {
    id: u64,
    tag: T,
    frames: FrameReader,
    /// The response has no body, because the request is HEAD.
    is_head: bool,
    wants_fields: bool,
    has_begun: bool,
    has_trailers: bool,
    /// The status of the final response; 0 before its head has arrived.
    status: u16,
    interims: u32,
    head_bytes: u32,
    content_length: Option<u64>,
    body_bytes: u64,
    /// Frames since the last bytes of the response.
    idle_frames: u32,
}

impl<T> Client<T> {
    /// Starts a connection.
    pub fn new(limits: Limits) -> Self {
        let mut out = Vec::with_capacity(64);
        push_control_stream(&mut out, CONTROL_STREAM, limits.head_bytes_max);
        Self {
            out,
            limits,
            streams: Vec::new(),
            next_id: 0,
            peer: UniStreams::of_server(),
            decoder: Decoder::default(),
            fields: ResponseFields::default(),
            scratch: Vec::new(),
            failed: None,
        }
    }

    /// Records to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// The number of further requests that may be sent now.
    pub const fn room(&self) -> usize {
        if self.peer.going_away.is_some() || self.failed.is_some() || self.next_id >= STREAM_MAX {
            return 0;
        }
        STREAMS_MAX.saturating_sub(self.streams.len())
    }

    /// The number of requests in flight.
    pub const fn in_flight(&self) -> usize {
        self.streams.len()
    }

    /// Whether the connection takes no more requests: its peer closes it, or all streams are used.
    pub const fn is_parting(&self) -> bool {
        self.peer.going_away.is_some() || self.next_id >= STREAM_MAX
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags(&self) -> impl Iterator<Item = &T> {
        self.streams.iter().map(|stream| &stream.tag)
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.streams.iter_mut().map(|stream| &mut stream.tag)
    }

    /// Sends a request, given as HTTP/1 text. There must be [`room`](Self::room) for it.
    ///
    /// # Errors
    /// Returns the tag if the text is not that of a request.
    pub fn request(&mut self, tag: T, text: &[u8]) -> Result<(), T> {
        let Some(request) = RequestText::parse(text) else { return Err(tag) };
        let dechunked;
        let mut body = request.body;
        if request.is_chunked() {
            let Some(data) = without_chunks(body) else { return Err(tag) };
            dechunked = data;
            body = &dechunked;
        }
        let mut block = Vec::with_capacity(128);
        request.encode(&mut Encoder, true, &mut block, &mut self.scratch);
        let place = records::begin(&mut self.out, self.next_id, RecordKind::End);
        push_frame_header(&mut self.out, frame::HEADERS, block.len());
        self.out.extend_from_slice(&block);
        if !body.is_empty() {
            push_frame_header(&mut self.out, frame::DATA, body.len());
            self.out.extend_from_slice(body);
        }
        records::finish(&mut self.out, place);
        self.streams.push(Stream {
            id: self.next_id,
            tag,
            frames: FrameReader::default(),
            is_head: request.is_head(),
            wants_fields: false,
            has_begun: false,
            has_trailers: false,
            status: 0,
            interims: 0,
            head_bytes: 0,
            content_length: None,
            body_bytes: 0,
            idle_frames: 0,
        });
        self.next_id += STREAM_STEP;
        Ok(())
    }

    /// Reads records of the server.
    ///
    /// # Errors
    /// If the server broke the protocol. The connection is of no further use: the caller sends
    /// [`out`](Self::out), closes it, and [`cut`](Self::cut)s what is in flight.
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        for record in records::read(input) {
            if let Err(fault) = self.take(record, sink) {
                self.failed = Some(fault);
                let code = u64::from(fault.http3_code().0);
                records::push_code(&mut self.out, 0, RecordKind::Close, code);
                return Err(fault);
            }
        }
        Ok(())
    }

    fn take(&mut self, record: Record<'_>, sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        // Bit 1 marks one direction, bit 0 the server's streams (RFC 9000 §2.1).
        match record.stream & 3 {
            0 => self.take_response(record, sink),
            3 => {
                let read = self.peer.read(record);
                self.drop_untouched(sink);
                read
            }
            // A server may stop reading our control stream only to end the connection.
            2 => Err(Fault::Http3CriticalStream),
            _ => Err(Fault::UnknownStream),
        }
    }

    /// Fails the requests that a server in its shutdown will not touch (RFC 9114 §5.2).
    fn drop_untouched(&mut self, sink: &mut impl ClientSink<T>) {
        let Some(first) = self.peer.going_away else { return };
        while self.streams.last().is_some_and(|stream| stream.id >= first) {
            if let Some(stream) = self.streams.pop() {
                abort(&mut self.out, stream.id, ErrorCode::HTTP3_REQUEST_CANCELLED);
                sink.failed(stream.tag, StreamFailure::GoneAway(ErrorCode::HTTP3_NO_ERROR));
            }
        }
    }

    fn take_response(&mut self, record: Record<'_>, sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        let Ok(at) = self.streams.binary_search_by_key(&record.stream, |stream| stream.id) else {
            return if record.stream < self.next_id { Ok(()) } else { Err(Fault::UnknownStream) };
        };
        match record.kind {
            RecordKind::Reset => {
                let stream = self.streams.remove(at);
                let cancelled = u64::from(ErrorCode::HTTP3_REQUEST_CANCELLED.0);
                records::push_code(&mut self.out, stream.id, RecordKind::Reset, cancelled);
                let code = ErrorCode(u32::try_from(record.code()).unwrap_or(u32::MAX));
                let is_refused = code == ErrorCode::HTTP3_REQUEST_REJECTED;
                let failure = if is_refused { StreamFailure::Refused } else { StreamFailure::Reset(code) };
                sink.failed(stream.tag, failure);
                return Ok(());
            }
            // The server needs no more of the request; its response follows.
            RecordKind::Stop | RecordKind::Close => return Ok(()),
            RecordKind::Data | RecordKind::End => {}
        }
        let mut read = self.take_bytes(at, record.bytes, sink)?;
        if record.kind == RecordKind::End && read.is_ok() {
            read = self.check_end(at)?;
        }
        match read {
            Err(fault) => self.fail(at, fault, sink),
            Ok(()) if record.kind == RecordKind::End => {
                let Stream { tag, status, head_bytes, body_bytes, .. } = self.streams.remove(at);
                self.peer.idle_frames = 0;
                sink.answered(
                    tag,
                    ResponseEnd { status, head_bytes, body_bytes, keep_alive: true, close_announced: false },
                );
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Reads bytes of a response. The inner result is a fault of this response alone.
    fn take_bytes(
        &mut self,
        at: usize,
        mut input: &[u8],
        sink: &mut impl ClientSink<T>,
    ) -> Result<Result<(), Fault>, Fault> {
        let Self { streams, decoder, fields, limits, .. } = self;
        let stream = &mut streams[at];
        let mut frames = std::mem::take(&mut stream.frames);
        loop {
            let piece = match frames.next(&mut input) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(Fault::HeadersTooLarge) => return Ok(Err(Fault::HeadersTooLarge)),
                Err(fault) => return Err(fault),
            };
            stream.check_order(piece)?;
            let result = match piece {
                Piece::Frame(frame::HEADERS, block) => {
                    if !std::mem::replace(&mut stream.has_begun, true) || stream.status == 0 {
                        stream.wants_fields = sink.began(&mut stream.tag);
                    }
                    let wants = stream.wants_fields;
                    response_fields::decode(decoder, block, limits, (Version::Http3, wants), fields)?;
                    stream.take_fields(fields, block.len(), sink)
                }
                Piece::Data(bytes) if !bytes.is_empty() => stream.take_body(bytes, limits, sink),
                _ => Ok(()),
            };
            if result.is_err() {
                return Ok(result);
            }
        }
        stream.frames = frames;
        Ok(Ok(()))
    }

    /// Checks a response that has ended. The inner result is a fault of this response alone.
    fn check_end(&self, at: usize) -> Result<Result<(), Fault>, Fault> {
        let stream = &self.streams[at];
        if !stream.frames.is_between_frames() {
            // RFC 9114 §7.1.
            return Err(Fault::Http3FrameSize);
        }
        if stream.status == 0 {
            return Ok(Err(Fault::Http3Incomplete));
        }
        let bodiless = stream.is_head || matches!(stream.status, 204 | 304);
        Ok(match stream.content_length {
            Some(length) if !bodiless && length != stream.body_bytes => Err(Fault::BodyLength),
            _ => Ok(()),
        })
    }

    /// Gives up one request because of its response.
    fn fail(&mut self, at: usize, fault: Fault, sink: &mut impl ClientSink<T>) {
        let stream = self.streams.remove(at);
        abort(&mut self.out, stream.id, fault.http3_code());
        sink.failed(stream.tag, StreamFailure::Fault(fault));
    }

    /// Cancels the requests in flight that `is_over` selects, and passes them to `each`, together
    /// with whether any of the response had arrived.
    pub fn cancel(&mut self, mut is_over: impl FnMut(&T) -> bool, mut each: impl FnMut(T, bool)) {
        let mut at = 0;
        while at < self.streams.len() {
            if !is_over(&self.streams[at].tag) {
                at += 1;
                continue;
            }
            let stream = self.streams.remove(at);
            abort(&mut self.out, stream.id, ErrorCode::HTTP3_REQUEST_CANCELLED);
            each(stream.tag, stream.has_begun);
        }
    }

    /// Ends the connection: passes all requests in flight to `each`, the oldest first, together
    /// with whether any of the response had arrived.
    pub fn cut(&mut self, mut each: impl FnMut(T, bool)) {
        for stream in self.streams.drain(..) {
            each(stream.tag, stream.has_begun);
        }
    }
}

impl<T> Stream<T> {
    /// Checks that a frame may follow those before it (RFC 9114 §4.1).
    fn check_order(&mut self, piece: Piece<'_>) -> Result<(), Fault> {
        self.idle_frames += 1;
        match piece {
            Piece::Frame(frame::HEADERS, _) if !self.has_trailers => self.idle_frames = 0,
            Piece::Data(_) if self.status == 0 || self.has_trailers => return Err(Fault::Http3Frame),
            Piece::Data(bytes) if !bytes.is_empty() => self.idle_frames = 0,
            Piece::Data(_) | Piece::Unknown => {}
            Piece::Frame(frame::PUSH_PROMISE, _) => return Err(Fault::Push),
            Piece::Frame(..) => return Err(Fault::Http3Frame),
        }
        if self.idle_frames > IDLE_FRAMES_MAX { Err(Fault::Flood) } else { Ok(()) }
    }

    /// Handles a header block that was decoded.
    fn take_fields(
        &mut self,
        fields: &ResponseFields,
        block_bytes: usize,
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        if fields.too_large {
            return Err(Fault::HeadersTooLarge);
        }
        let is_trailers = self.status != 0;
        if fields.malformed || is_trailers != (fields.status == 0) || fields.status == 101 {
            return Err(Fault::Malformed);
        }
        if is_trailers {
            self.has_trailers = true;
            if self.wants_fields {
                sink.trailers(&mut self.tag, &fields.lines);
            }
            return Ok(());
        }
        if fields.status < 200 {
            self.interims += 1;
            return if self.interims > INTERIMS_MAX { Err(Fault::TooManyInterim) } else { Ok(()) };
        }
        (self.status, self.content_length) = (fields.status, fields.content_length);
        self.head_bytes = u32::try_from(block_bytes).unwrap_or(u32::MAX);
        if self.wants_fields {
            let head = ResponseHead::of_fields(Version::Http3, fields.status, &fields.lines);
            sink.head(&mut self.tag, &head);
        }
        Ok(())
    }

    fn take_body(
        &mut self,
        bytes: &[u8],
        limits: &Limits,
        sink: &mut impl ClientSink<T>,
    ) -> Result<(), Fault> {
        if self.is_head {
            return Err(Fault::Malformed);
        }
        self.body_bytes += bytes.len() as u64;
        if self.body_bytes > limits.body_bytes_max {
            return Err(Fault::BodyTooLarge);
        }
        sink.body(&mut self.tag, bytes);
        Ok(())
    }
}
