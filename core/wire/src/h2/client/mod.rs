//! [`Client`]: the client's side of an HTTP/2 connection.

#[cfg(test)]
mod bad_input;
mod frames;
mod grpc;
#[cfg(test)]
mod grpc_tests;
mod headers;
mod memory;
mod sending;
mod stream;
#[cfg(test)]
mod tests;
mod tunnels;

use super::error::{ErrorCode, Fault};
use super::frame::{self, PREFACE, WINDOW_DEFAULT, setting};
use super::frame_reader::FrameReader;
use super::header_block::HeaderBlock;
use super::hpack::{Decoder, Encoder};
use super::reset_streams::ResetStreams;
use super::response_fields::ResponseFields;
use super::settings::PeerSettings;
use crate::h1::{Limits, ResponseEnd, ResponseHead};
pub(in crate::h2) use grpc::GrpcResponse;
use memory::{LastBlock, RememberedRequest};
use stream::Stream;

/// The size of the windows that we open. A client that lets the server wait for its window updates
/// measures itself.
const RECEIVE_WINDOW: i64 = 1 << 30;
/// The most streams in use at a time, whatever the peer allows.
const STREAMS_MAX: usize = 1_024;
/// The last stream that a client may open.
const STREAM_ID_MAX: u32 = (1 << 31) - 1;

/// Receives what is read. `T` identifies a request; see [`Client::request`].
pub trait ClientSink<T> {
    /// A header block of the response, or of an interim response before it, arrived. Returns
    /// whether the fields of the response are wanted.
    fn began(&mut self, tag: &mut T) -> bool;

    /// The head of the response, if its fields are wanted.
    fn head(&mut self, tag: &mut T, head: &ResponseHead<'_>) {
        let _ = (tag, head);
    }

    /// The trailers of the response as lines, if its fields are wanted.
    fn trailers(&mut self, tag: &mut T, lines: &[u8]) {
        let _ = (tag, lines);
    }

    /// A piece of the body, never empty. How the body is cut has no meaning.
    fn body(&mut self, tag: &mut T, bytes: &[u8]) {
        let _ = (tag, bytes);
    }

    /// A ping with this content was answered.
    fn pong(&mut self, payload: &[u8]) {
        let _ = payload;
    }

    /// The response is complete. Its status is that of gRPC if the request was a call.
    fn answered(&mut self, tag: T, end: ResponseEnd);

    /// The request failed, and others on the connection did not.
    fn failed(&mut self, tag: T, failure: StreamFailure);
}

/// Why a single request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFailure {
    /// The peer reset the stream.
    Reset(ErrorCode),
    /// The peer refused the stream before it did anything (RFC 9113 §8.7).
    Refused,
    /// The peer closes the connection, and did nothing for this request (RFC 9113 §6.8).
    GoneAway(ErrorCode),
    /// The response is invalid.
    Fault(Fault),
}

impl StreamFailure {
    /// Whether the peer has done nothing for the request, so that it may be sent again.
    pub const fn is_untouched(self) -> bool {
        matches!(self, Self::Refused | Self::GoneAway(_))
    }
}

/// The client's side of a connection.
///
/// Requests are HTTP/1 text. Bytes to be sent are appended to [`out`](Self::out), beginning with
/// the preface. After a [`Fault`], every call of [`read`](Self::read) returns it again.
#[derive(Debug)]
pub struct Client<T> {
    frames: FrameReader,
    core: Core<T>,
    failed: Option<Fault>,
}

/// Everything but the cutting of bytes into frames.
#[derive(Debug)]
struct Core<T> {
    out: Vec<u8>,
    limits: Limits,
    secure: bool,
    encoder: Encoder,
    decoder: Decoder,
    peer: PeerSettings,
    /// Streams in use, in ascending order.
    streams: Vec<Stream<T>>,
    /// The place of the stream that was found last.
    last_found: usize,
    next_id: u32,
    /// Streams that we have reset, on which frames may still arrive.
    reset: ResetStreams,
    /// The connection's windows, for sending and for receiving.
    send_window: i64,
    receive_window: i64,
    /// The header block that is not complete.
    block: Option<HeaderBlock>,
    last_block: LastBlock,
    fields: ResponseFields,
    remembered: Vec<RememberedRequest>,
    scratch: Vec<u8>,
    /// The peer will close the connection.
    parting: Option<ErrorCode>,
    /// Frames since the last progress of a request.
    idle_frames: u32,
    /// Pings that were not answered yet.
    pings: u32,
    /// Messages of gRPC that were sent and received in calls with one request.
    messages: (u64, u64),
    /// Answers that the peer demanded since it stopped reading; `None`: it reads.
    blocked_acks: Option<u32>,
}

impl<T> Core<T> {
    /// Returns the place of a stream in use.
    #[inline]
    fn find(&mut self, id: u32) -> Option<usize> {
        if self.streams.get(self.last_found).is_some_and(|stream| stream.id == id) {
            return Some(self.last_found);
        }
        let found = self.streams.binary_search_by_key(&id, |stream| stream.id).ok()?;
        self.last_found = found;
        Some(found)
    }

    /// Resets the stream at that place.
    fn reset_stream(&mut self, at: usize, code: ErrorCode) -> Stream<T> {
        let stream = self.streams.remove(at);
        frame::push_reset(&mut self.out, stream.id, code);
        self.reset.insert(stream.id);
        stream
    }
}

impl<T> Client<T> {
    /// Starts a connection. `secure`: it uses TLS, so the scheme is `https`.
    pub fn new(limits: Limits, secure: bool) -> Self {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(PREFACE);
        frame::push_settings(
            &mut out,
            &[
                (setting::ENABLE_PUSH, 0),
                (setting::INITIAL_WINDOW_SIZE, RECEIVE_WINDOW as u32),
                (setting::MAX_HEADER_LIST_SIZE, u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX)),
            ],
        );
        frame::push_window_update(&mut out, 0, (RECEIVE_WINDOW - WINDOW_DEFAULT) as u32);
        Self {
            frames: FrameReader::new(),
            failed: None,
            core: Core {
                out,
                limits,
                secure,
                encoder: Encoder::new(),
                decoder: Decoder::new(),
                peer: PeerSettings::new(),
                streams: Vec::new(),
                last_found: 0,
                next_id: 1,
                reset: ResetStreams::default(),
                send_window: WINDOW_DEFAULT,
                receive_window: RECEIVE_WINDOW,
                block: None,
                last_block: LastBlock::default(),
                fields: ResponseFields::default(),
                remembered: Vec::new(),
                scratch: Vec::new(),
                parting: None,
                idle_frames: 0,
                pings: 0,
                messages: (0, 0),
                blocked_acks: None,
            },
        }
    }

    /// Bytes to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        &mut self.core.out
    }

    /// Whether the peer does not read what was sent before. It must not demand answers without end
    /// then.
    pub const fn set_blocked(&mut self, is_blocked: bool) {
        self.core.blocked_acks = match self.core.blocked_acks {
            Some(acks) if is_blocked => Some(acks),
            None if is_blocked => Some(0),
            _ => None,
        };
    }

    /// Returns the numbers of messages that were sent and received in gRPC calls since the last
    /// time.
    #[inline]
    pub fn take_messages(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.core.messages)
    }

    /// Sends a ping with this content.
    pub fn ping(&mut self, payload: &[u8; 8]) {
        self.core.pings = self.core.pings.saturating_add(1);
        frame::push_ping(&mut self.core.out, *payload);
    }

    /// Whether the server's settings have arrived, which it sends first.
    pub const fn is_ready(&self) -> bool {
        self.core.peer.arrived
    }

    /// The number of further requests that may be sent now.
    #[inline]
    pub fn room(&self) -> usize {
        if self.core.parting.is_some() || self.failed.is_some() || self.core.next_id >= STREAM_ID_MAX {
            return 0;
        }
        (self.core.peer.streams_max as usize).min(STREAMS_MAX).saturating_sub(self.core.streams.len())
    }

    /// The number of requests in flight.
    #[inline]
    pub const fn in_flight(&self) -> usize {
        self.core.streams.len()
    }

    /// The reason of the peer for closing the connection soon, if it has announced that.
    pub const fn parting(&self) -> Option<ErrorCode> {
        self.core.parting
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags(&self) -> impl Iterator<Item = &T> {
        self.core.streams.iter().map(|stream| &stream.tag)
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        self.core.streams.iter_mut().map(|stream| &mut stream.tag)
    }

    /// Reads bytes of the server. All of them are consumed.
    ///
    /// # Errors
    /// If the server broke the protocol. The connection is of no further use: the caller sends
    /// [`out`](Self::out), closes it, and [`cut`](Self::cut)s what is in flight.
    pub fn read(&mut self, mut input: &[u8], sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        if let Some(fault) = self.failed {
            return Err(fault);
        }
        let read = loop {
            // `H` of `HTTP/1.1` would be the length of a frame of 4 MiB.
            if !self.core.peer.arrived && self.frames.is_between_frames() && input.first() == Some(&b'H') {
                break Err(Fault::Http1);
            }
            match self.frames.next(&mut input) {
                Ok(Some(piece)) => {
                    if let Err(fault) = self.core.take(piece, sink) {
                        break Err(fault);
                    }
                }
                Ok(None) => break Ok(()),
                Err(fault) => break Err(fault),
            }
        };
        if let Err(fault) = read {
            self.failed = Some(fault);
            frame::push_goaway(&mut self.core.out, 0, fault.code());
        }
        read
    }

    /// Resets the requests in flight that `is_over` selects, and passes them to `each`, together
    /// with whether any of the response had arrived.
    pub fn cancel(&mut self, mut is_over: impl FnMut(&T) -> bool, mut each: impl FnMut(T, bool)) {
        let mut at = 0;
        while at < self.core.streams.len() {
            if is_over(&self.core.streams[at].tag) {
                let stream = self.core.reset_stream(at, ErrorCode::CANCEL);
                each(stream.tag, stream.has_begun);
            } else {
                at += 1;
            }
        }
    }

    /// Ends the connection: passes all requests in flight to `each`, the oldest first, together
    /// with whether any of the response had arrived.
    pub fn cut(&mut self, mut each: impl FnMut(T, bool)) {
        for stream in self.core.streams.drain(..) {
            each(stream.tag, stream.has_begun);
        }
    }
}
