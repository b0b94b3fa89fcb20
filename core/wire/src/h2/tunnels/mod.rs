//! [`TunnelClient`]: a connection with streams that take the place of connections of HTTP/1.1.
//!
//! Each stream carries a WebSocket (RFC 8441), an event stream or a [gRPC call](crate::grpc). Its
//! owner writes and reads what it would on a connection of its own: an HTTP/1.1 request, then the
//! bytes of its protocol. An upgrade becomes an extended CONNECT, and status 2xx of its response
//! becomes 101.

use super::client::{Client, ClientSink, GrpcResponse, StreamFailure};
use super::error::Fault;
use super::request_text::RequestText;
use super::response_fields::is_grpc_type;
use crate::grpc::{push_end, split_end};
use crate::h1::{Limits, ResponseEnd, ResponseHead};
use crate::ws::accept_key;

/// Receives what arrives on the streams. `K` identifies a stream; see [`TunnelClient::open`].
pub trait TunnelSink<K> {
    /// Bytes arrived: first the head of a response in HTTP/1.1, then those of the protocol.
    fn received(&mut self, key: K, bytes: &[u8]);

    /// The server ended the stream.
    fn ended(&mut self, key: K);

    /// The stream broke, and others on the connection did not.
    fn failed(&mut self, key: K, failure: StreamFailure);
}

/// Why a stream was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// The text is not that of a request without a body.
    NotARequest,
    /// The server has not said that it accepts WebSockets in streams.
    NoWebSockets,
}

/// What identifies a stream, and what its response needs.
#[derive(Debug)]
struct Tag<K> {
    key: K,
    /// The value of `Sec-WebSocket-Accept`, if a WebSocket is requested.
    accept: Option<Box<str>>,
    /// Set for a gRPC call.
    call: Option<Call>,
}

/// What the end of a gRPC call needs.
#[derive(Debug)]
struct Call {
    trailers: Vec<u8>,
    /// The status of HTTP and the media type are those with which a body is gRPC.
    has_frames: bool,
    /// Where the frames of the body end.
    frames: GrpcResponse,
}

/// See the [module](self).
#[derive(Debug)]
pub struct TunnelClient<K> {
    client: Client<Tag<K>>,
    text: Vec<u8>,
}

impl<K: Copy> TunnelClient<K> {
    /// Starts a connection. `secure`: it uses TLS, so the scheme is `https`.
    pub fn new(secure: bool) -> Self {
        let limits = Limits { body_bytes_max: u64::MAX, ..Limits::default() };
        Self { client: Client::new(limits, secure), text: Vec::new() }
    }

    /// Bytes to be sent. The caller removes what it has sent.
    pub const fn out(&mut self) -> &mut Vec<u8> {
        self.client.out()
    }

    /// Whether the server does not read what was sent before. It must not demand answers without
    /// end then.
    pub const fn set_blocked(&mut self, is_blocked: bool) {
        self.client.set_blocked(is_blocked);
    }

    /// Whether the server's settings have arrived.
    pub const fn is_ready(&self) -> bool {
        self.client.is_ready()
    }

    /// Whether the server has said that it accepts WebSockets in streams.
    pub const fn accepts_websockets(&self) -> bool {
        self.client.accepts_connect()
    }

    /// The number of further streams that may be opened now.
    pub fn room(&self) -> usize {
        self.client.room()
    }

    /// The number of streams that the server accepts at a time.
    pub const fn streams_max(&self) -> u32 {
        self.client.streams_max()
    }

    /// The number of streams in use, with those that only the server still has to end.
    pub const fn in_use(&self) -> usize {
        self.client.in_flight()
    }

    /// Whether the server has announced that it closes the connection.
    pub const fn is_parting(&self) -> bool {
        self.client.parting().is_some()
    }

    /// Opens a stream with `request`, a whole HTTP/1.1 request without a body. There must be
    /// [`room`](Self::room) for it. Returns the number of the stream.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(&mut self, key: K, request: &[u8]) -> Result<u32, NotOpened> {
        let parsed = RequestText::parse(request).filter(|parsed| parsed.body.is_empty());
        let parsed = parsed.ok_or(NotOpened::NotARequest)?;
        let id = self.client.next_id();
        if let Some(websocket) = parsed.websocket_key() {
            if !self.accepts_websockets() {
                return Err(NotOpened::NoWebSockets);
            }
            let accept = Some(accept_key(websocket).into_boxed_str());
            self.client.connect(Tag { key, accept, call: None }, &parsed, b"websocket");
            return Ok(id);
        }
        if parsed.is_grpc() {
            let call = Call { trailers: Vec::new(), has_frames: false, frames: GrpcResponse::counting() };
            self.client.open_call(Tag { key, accept: None, call: Some(call) }, &parsed);
            return Ok(id);
        }
        let tag = Tag { key, accept: None, call: None };
        self.client.request(tag, request, false).map_err(|_| NotOpened::NotARequest)?;
        Ok(id)
    }

    /// Sends bytes on the stream of a WebSocket or a gRPC call. They are kept as long as flow
    /// control requires. Those of a call are whole frames.
    pub fn send(&mut self, stream: u32, bytes: &[u8]) {
        if !self.client.is_call(stream) {
            return self.client.send_on(stream, bytes);
        }
        let (frames, ends) = split_end(bytes);
        if !frames.is_empty() {
            self.client.send_on(stream, frames);
        }
        if ends {
            self.client.finish_call(stream);
        }
    }

    /// The number of bytes on a stream that flow control holds back.
    pub fn unsent(&mut self, stream: u32) -> usize {
        self.client.unsent(stream)
    }

    /// Closes a stream: in order, or immediately.
    pub fn close(&mut self, stream: u32, in_order: bool) {
        // A server must learn that a call was cancelled.
        if in_order && !self.client.is_call(stream) {
            self.client.finish(stream);
        } else {
            self.client.reset(stream);
        }
    }

    /// Announces that the connection will be closed.
    pub fn part(&mut self) {
        self.client.part();
    }

    /// Reads bytes of the server. All of them are consumed.
    ///
    /// # Errors
    /// If the server broke the protocol. The connection is of no further use, and neither are its
    /// streams.
    pub fn read(&mut self, input: &[u8], sink: &mut impl TunnelSink<K>) -> Result<(), Fault> {
        let Self { client, text } = self;
        client.read(input, &mut Intake { text, sink })
    }
}

/// Receives the responses of one connection.
struct Intake<'a, S> {
    text: &'a mut Vec<u8>,
    sink: &'a mut S,
}

impl<K: Copy, S: TunnelSink<K>> ClientSink<Tag<K>> for Intake<'_, S> {
    fn began(&mut self, _: &mut Tag<K>) -> bool {
        true
    }

    fn head(&mut self, tag: &mut Tag<K>, head: &ResponseHead<'_>) {
        let text = &mut *self.text;
        text.clear();
        match &tag.accept {
            Some(accept) if (200..300).contains(&head.status) => {
                let start =
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
                for piece in [start, "Sec-WebSocket-Accept: ", accept, "\r\n"] {
                    text.extend_from_slice(piece.as_bytes());
                }
                // A proxy may pass on the field of a server, which has no meaning here.
                for (name, value) in head.headers().filter(|(name, _)| *name != b"sec-websocket-accept") {
                    for piece in [name, b": ", value, b"\r\n"] {
                        text.extend_from_slice(piece);
                    }
                }
                text.extend_from_slice(b"\r\n");
            }
            _ => {
                text.extend_from_slice(format!("HTTP/1.1 {}\r\n", head.status).as_bytes());
                text.extend_from_slice(head.fields());
            }
        }
        if let Some(call) = &mut tag.call {
            let media_type = head.header("content-type");
            call.has_frames = head.status == 200 && media_type.is_none_or(is_grpc_type);
        }
        self.sink.received(tag.key, text);
    }

    fn trailers(&mut self, tag: &mut Tag<K>, lines: &[u8]) {
        if let Some(call) = &mut tag.call {
            call.trailers.extend_from_slice(lines);
        }
    }

    fn body(&mut self, tag: &mut Tag<K>, bytes: &[u8]) {
        if let Some(call) = &mut tag.call {
            if !call.has_frames {
                return;
            }
            // Faults of frames were found before.
            let _ = call.frames.take_body(bytes);
        }
        self.sink.received(tag.key, bytes);
    }

    fn answered(&mut self, tag: Tag<K>, end: ResponseEnd) {
        let Some(call) = tag.call else { return self.sink.ended(tag.key) };
        if !call.frames.is_whole() {
            return self.sink.failed(tag.key, StreamFailure::Fault(Fault::GrpcFrame));
        }
        self.text.clear();
        push_end(self.text, end.status, &call.trailers);
        self.sink.received(tag.key, self.text);
    }

    fn failed(&mut self, tag: Tag<K>, failure: StreamFailure) {
        self.sink.failed(tag.key, failure);
    }
}

#[cfg(test)]
mod tests;
