//! [`Server`]: the server's side of an HTTP/3 connection.

mod responses;

use super::frame_reader::{FrameReader, Piece};
use super::qpack::Decoder;
use super::records::{self, Record, RecordKind};
use super::uni_streams::UniStreams;
use super::{abort, frame, push_control_stream, push_frame_header, varint};
use crate::fields::FieldDecoder as _;
use crate::h1::{Limits, RequestEnd, RequestHead, Version};
use crate::h2::server::{LastRequest, ResponseBody, decode_request};
use crate::h2::{ErrorCode, Fault, ServerSink};

/// The most requests of a client at a time. QUIC's limit on streams is lower.
const STREAMS_MAX: usize = 1_000;
/// Our control stream: the first of a server in one direction.
const CONTROL_STREAM: u64 = 3;

/// The server's side of a connection.
///
/// Responses are HTTP/1 text. [Records](records) to be sent are appended to [`out`](Self::out).
/// After a [`Fault`], every call of [`read`](Self::read) returns it again.
#[derive(Debug)]
pub struct Server {
    out: Vec<u8>,
    limits: Limits,
    /// Streams in use, in ascending order.
    streams: Vec<Stream>,
    /// The first stream that was not opened yet.
    next_id: u64,
    /// Earlier streams of which nothing has arrived yet, in ascending order: datagrams get lost.
    skipped: Vec<u64>,
    /// The id in our GOAWAY. This stream and all later ones are refused.
    parting: Option<u64>,
    peer: UniStreams,
    decoder: Decoder,
    last_request: LastRequest,
    scratch: Vec<u8>,
    failed: Option<Fault>,
}

/// A request, and its response as far as it is known.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
struct Stream {
    id: u64,
    frames: FrameReader,
    has_head: bool,
    has_trailers: bool,
    is_head: bool,
    /// The request is complete.
    is_complete: bool,
    content_length: Option<u64>,
    body_bytes: u64,
    response: Option<ResponseBody>,
}

impl Server {
    /// Starts a connection.
    pub fn new(limits: Limits) -> Self {
        let mut out = Vec::with_capacity(64);
        push_control_stream(&mut out, CONTROL_STREAM, limits.head_bytes_max);
        Self {
            out,
            limits,
            streams: Vec::new(),
            next_id: 0,
            skipped: Vec::new(),
            parting: None,
            peer: UniStreams::of_client(),
            decoder: Decoder::default(),
            last_request: LastRequest::default(),
            scratch: Vec::new(),
            failed: None,
        }
    }

    /// Records to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// The number of streams in use, with those of which nothing has arrived yet.
    pub fn in_use(&self) -> usize {
        let expected = self.skipped.iter().filter(|id| !self.refuses(**id));
        self.streams.len() + expected.count()
    }

    fn refuses(&self, id: u64) -> bool {
        self.parting.is_some_and(|first| id >= first)
    }

    /// Reads records of the client.
    ///
    /// # Errors
    /// If the client broke the protocol. The caller sends [`out`](Self::out) and closes the
    /// connection.
    pub fn read(&mut self, input: &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
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

    /// Announces that the connection will be closed. Open requests are still read and answered, and
    /// later ones are refused.
    pub fn part(&mut self) {
        self.parting = Some(self.next_id);
        let mut id = Vec::with_capacity(8);
        varint::encode(&mut id, self.next_id);
        let place = records::begin(&mut self.out, CONTROL_STREAM, RecordKind::Data);
        push_frame_header(&mut self.out, frame::GOAWAY, id.len());
        self.out.extend_from_slice(&id);
        records::finish(&mut self.out, place);
    }

    fn take(&mut self, record: Record<'_>, sink: &mut impl ServerSink) -> Result<(), Fault> {
        match record.stream & 3 {
            0 => self.take_request(record, sink),
            2 => self.peer.read(record),
            _ => Err(Fault::Http3CriticalStream),
        }
    }

    fn take_request(&mut self, record: Record<'_>, sink: &mut impl ServerSink) -> Result<(), Fault> {
        let at = match self.streams.binary_search_by_key(&record.stream, |stream| stream.id) {
            Ok(at) => at,
            // The rest of a request that was answered or rejected.
            Err(_) if !self.open(record.stream) => return Ok(()),
            Err(at) => {
                if self.streams.len() >= STREAMS_MAX || self.refuses(record.stream) {
                    abort(&mut self.out, record.stream, ErrorCode::HTTP3_REQUEST_REJECTED);
                    return Ok(());
                }
                self.streams.insert(at, Stream::new(record.stream));
                at
            }
        };
        if !matches!(record.kind, RecordKind::Data | RecordKind::End) {
            // A stream that ends in one direction only would keep its place.
            let stream = self.streams.remove(at);
            abort(&mut self.out, stream.id, ErrorCode::HTTP3_REQUEST_CANCELLED);
            if stream.has_head {
                sink.cancelled(stream_number(stream.id));
            }
            return Ok(());
        }
        let mut read = self.take_bytes(at, record.bytes, sink)?;
        if record.kind == RecordKind::End && read.is_ok() {
            read = self.streams[at].check_end()?;
        }
        match read {
            Err(code) => {
                let stream = self.streams.remove(at);
                abort(&mut self.out, stream.id, code);
                if stream.has_head {
                    sink.cancelled(stream_number(stream.id));
                }
                sink.rejected(stream_number(stream.id));
            }
            Ok(()) if record.kind == RecordKind::End => {
                let stream = &mut self.streams[at];
                stream.is_complete = true;
                let end = RequestEnd {
                    body_bytes: stream.body_bytes,
                    keep_alive: true,
                    http_10: false,
                    head_request: stream.is_head,
                };
                sink.request(stream_number(stream.id), end);
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Marks a stream as opened. Returns false if it has been opened before.
    fn open(&mut self, id: u64) -> bool {
        if id < self.next_id {
            let place = self.skipped.binary_search(&id);
            return place.map(|place| self.skipped.remove(place)).is_ok();
        }
        // A stream opens those before it (RFC 9000 §2.1), of which QUIC limits the number.
        let skipped = (self.next_id..id).step_by(4).take(STREAMS_MAX - self.skipped.len());
        self.skipped.extend(skipped);
        self.next_id = id + 4;
        true
    }

    /// Reads bytes of a request. The inner result is a fault of this request alone.
    fn take_bytes(
        &mut self,
        at: usize,
        mut input: &[u8],
        sink: &mut impl ServerSink,
    ) -> Result<Result<(), ErrorCode>, Fault> {
        let Self { streams, decoder, last_request, limits, .. } = self;
        let stream = &mut streams[at];
        let mut frames = std::mem::take(&mut stream.frames);
        loop {
            let piece = match frames.next(&mut input) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(Fault::HeadersTooLarge) => return Ok(Err(ErrorCode::HTTP3_EXCESSIVE_LOAD)),
                Err(fault) => return Err(fault),
            };
            match piece {
                Piece::Frame(frame::HEADERS, _) if stream.has_trailers => return Err(Fault::Http3Frame),
                Piece::Frame(frame::HEADERS, block) if stream.has_head => {
                    let mut has_pseudo = false;
                    decoder.decode(block, |name, _| has_pseudo |= name.starts_with(b":"))?;
                    stream.has_trailers = true;
                    if has_pseudo {
                        return Ok(Err(ErrorCode::HTTP3_MESSAGE_ERROR));
                    }
                }
                Piece::Frame(frame::HEADERS, block) => {
                    decode_request(decoder, block, limits, Version::Http3, last_request)?;
                    if last_request.is_bad() {
                        return Ok(Err(ErrorCode::HTTP3_MESSAGE_ERROR));
                    }
                    let head: RequestHead<'_> = last_request.head(Version::Http3);
                    (stream.has_head, stream.is_head) = (true, head.method == b"HEAD");
                    stream.content_length = last_request.content_length();
                    sink.head(stream_number(stream.id), &head);
                }
                Piece::Data(_) if !stream.has_head || stream.has_trailers => return Err(Fault::Http3Frame),
                Piece::Unknown | Piece::Data(b"") => {}
                Piece::Data(bytes) => {
                    stream.body_bytes += bytes.len() as u64;
                    sink.body(stream_number(stream.id), bytes);
                }
                Piece::Frame(..) => return Err(Fault::Http3Frame),
            }
        }
        stream.frames = frames;
        Ok(Ok(()))
    }
}

impl Stream {
    fn new(id: u64) -> Self {
        Self {
            id,
            frames: FrameReader::default(),
            has_head: false,
            has_trailers: false,
            is_head: false,
            is_complete: false,
            content_length: None,
            body_bytes: 0,
            response: None,
        }
    }

    /// Checks a request that has ended. The inner result is a fault of this request alone.
    fn check_end(&self) -> Result<Result<(), ErrorCode>, Fault> {
        if !self.frames.is_between_frames() {
            // RFC 9114 §7.1.
            return Err(Fault::Http3FrameSize);
        }
        if !self.has_head {
            return Ok(Err(ErrorCode::HTTP3_REQUEST_INCOMPLETE));
        }
        Ok(match self.content_length {
            Some(length) if length != self.body_bytes => Err(ErrorCode::HTTP3_MESSAGE_ERROR),
            _ => Ok(()),
        })
    }
}

/// The number by which the sink knows a stream.
fn stream_number(id: u64) -> u32 {
    u32::try_from(id).unwrap_or(u32::MAX)
}
