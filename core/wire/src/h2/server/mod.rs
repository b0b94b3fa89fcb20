//! [`Server`]: the server's side of an HTTP/2 connection.

mod frames;
mod memory;
mod open_streams;
mod requests;
mod responses;

use super::error::{ErrorCode, Fault};
use super::frame::{self, PREFACE, WINDOW_DEFAULT, setting};
use super::frame_reader::FrameReader;
use super::header_block::HeaderBlock;
use super::hpack::{Decoder, Encoder};
use super::reset_streams::ResetStreams;
use super::settings::PeerSettings;
use crate::h1::{Limits, RequestEnd, RequestHead};
use memory::RememberedResponse;
pub(crate) use memory::{LastRequest, ResponseBody};
pub(crate) use requests::decode_request;
pub(crate) use responses::{encode_head, push_fields};

/// The size of the windows that we open.
const RECEIVE_WINDOW: i64 = 1 << 30;
/// The most streams that a client may use at a time.
const STREAMS_MAX: usize = 1_000;

/// Receives the requests of a client. Streams are identified by their numbers.
pub trait ServerSink {
    /// The head of a request, before its body. A WebSocket (RFC 8441) has the head of an upgrade in
    /// HTTP/1.1 without a key, and what follows is its body.
    fn head(&mut self, stream: u32, head: &RequestHead<'_>);

    /// A piece of the body, never empty. How the body is cut has no meaning.
    fn body(&mut self, stream: u32, bytes: &[u8]);

    /// A request is complete. Its response is expected.
    fn request(&mut self, stream: u32, end: RequestEnd);

    /// The client no longer waits for the response.
    fn cancelled(&mut self, stream: u32);

    /// The client broke a rule of requests, and its stream was reset.
    fn rejected(&mut self, stream: u32) {
        let _ = stream;
    }
}

/// The server's side of a connection.
///
/// Responses are HTTP/1 text. Bytes to be sent are appended to [`out`](Self::out). After a
/// [`Fault`], every call of [`read`](Self::read) returns it again.
#[derive(Debug)]
pub struct Server {
    frames: FrameReader,
    /// Bytes of the client's preface that have arrived.
    preface: usize,
    core: Core,
    failed: Option<Fault>,
}

/// Everything but the cutting of bytes into frames.
#[derive(Debug)]
struct Core {
    out: Vec<u8>,
    limits: Limits,
    encoder: Encoder,
    decoder: Decoder,
    peer: PeerSettings,
    /// Streams in use, in ascending order.
    streams: Vec<Stream>,
    last_id: u32,
    /// GOAWAY was sent. Streams that are opened from then on are refused.
    is_parting: bool,
    reset: ResetStreams,
    send_window: i64,
    receive_window: i64,
    block: Option<HeaderBlock>,
    last_request: LastRequest,
    remembered: Option<RememberedResponse>,
    scratch: Vec<u8>,
    /// Frames since the last response.
    idle_frames: u32,
}

/// A request, and its response as far as it is known.
#[derive(Debug)]
struct Stream {
    id: u32,
    send_window: i64,
    receive_window: i64,
    is_head: bool,
    /// The request is complete.
    is_complete: bool,
    content_length: Option<u64>,
    body_bytes: u64,
    response: Option<ResponseBody>,
}

/// Whether a connection that begins with `bytes` uses HTTP/2: with the preface, or with at least
/// the four bytes of it that no other method begins with.
pub fn begins_http2(bytes: &[u8]) -> bool {
    let common = bytes.len().min(PREFACE.len());
    common >= 4 && bytes[..common] == PREFACE[..common]
}

impl Server {
    /// Starts a connection.
    pub fn new(limits: Limits) -> Self {
        let mut out = Vec::with_capacity(128);
        frame::push_settings(
            &mut out,
            &[
                (setting::ENABLE_CONNECT_PROTOCOL, 1),
                (setting::MAX_CONCURRENT_STREAMS, STREAMS_MAX as u32),
                (setting::INITIAL_WINDOW_SIZE, RECEIVE_WINDOW as u32),
                (setting::MAX_HEADER_LIST_SIZE, u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX)),
            ],
        );
        frame::push_window_update(&mut out, 0, (RECEIVE_WINDOW - WINDOW_DEFAULT) as u32);
        Self {
            frames: FrameReader::new(),
            preface: 0,
            failed: None,
            core: Core {
                out,
                limits,
                encoder: Encoder::new(),
                decoder: Decoder::new(),
                peer: PeerSettings::new(),
                streams: Vec::new(),
                last_id: 0,
                is_parting: false,
                reset: ResetStreams::default(),
                send_window: WINDOW_DEFAULT,
                receive_window: RECEIVE_WINDOW,
                block: None,
                last_request: LastRequest::default(),
                remembered: None,
                scratch: Vec::new(),
                idle_frames: 0,
            },
        }
    }

    /// Bytes to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.core.out
    }

    /// The number of streams in use.
    pub const fn in_use(&self) -> usize {
        self.core.streams.len()
    }

    /// Reads bytes of the client. All of them are consumed.
    ///
    /// # Errors
    /// If the client broke the protocol. The caller sends [`out`](Self::out) and closes the
    /// connection.
    pub fn read(&mut self, mut input: &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let read = self.advance(&mut input, sink);
        if let Err(fault) = read {
            self.failed = Some(fault);
            frame::push_goaway(&mut self.core.out, self.core.last_id, fault.code());
        }
        read
    }

    fn advance(&mut self, input: &mut &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
        if self.preface < PREFACE.len() {
            let length = input.len().min(PREFACE.len() - self.preface);
            let (start, rest) = input.split_at(length);
            if *start != PREFACE[self.preface..self.preface + length] {
                return Err(Fault::NoPreface);
            }
            self.preface += length;
            *input = rest;
        }
        while let Some(piece) = self.frames.next(input)? {
            self.core.take(piece, sink)?;
        }
        Ok(())
    }

    /// Announces that the connection will be closed. Open requests are still read and answered, and
    /// later ones are refused.
    pub fn part(&mut self) {
        self.core.is_parting = true;
        frame::push_goaway(&mut self.core.out, self.core.last_id, ErrorCode(0));
    }
}

impl Core {
    #[inline]
    fn find(&self, id: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&id, |stream| stream.id).ok()
    }

    /// Resets a stream, and forgets it.
    fn reset_stream(&mut self, at: usize, code: ErrorCode) -> u32 {
        let id = self.streams.remove(at).id;
        self.reset_id(id, code);
        id
    }

    fn reset_id(&mut self, id: u32, code: ErrorCode) {
        // A client that does not read would have us keep resets without end.
        self.idle_frames += 1;
        frame::push_reset(&mut self.out, id, code);
        self.reset.insert(id);
    }
}

#[cfg(test)]
mod tests;
