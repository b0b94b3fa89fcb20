//! [`StreamClient`] and [`StreamServer`]: the protocols with several requests on a connection, each
//! in a stream of its own: HTTP/2 and HTTP/3.

use crate::h1::Limits;
use crate::h2::{ClientSink, Fault, ServerSink};
use crate::{h2, h3};

/// The client's side of a connection.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "its owner has it in a box")]
pub enum StreamClient<T> {
    /// HTTP/2. What it reads and writes are bytes.
    Http2(h2::Client<T>),
    /// HTTP/3. What it reads and writes are [records](h3::records).
    Http3(h3::Client<T>),
}

/// Calls a method of either protocol.
macro_rules! either {
    ($own:expr, $name:ident => $result:expr) => {
        match $own {
            Self::Http2($name) => $result,
            Self::Http3($name) => $result,
        }
    };
}

impl<T> StreamClient<T> {
    /// Bytes or records to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        either!(self, client => client.out())
    }

    /// Returns the numbers of messages that were sent and received in gRPC calls since the last
    /// time.
    #[inline]
    pub fn take_messages(&mut self) -> (u64, u64) {
        match self {
            Self::Http2(client) => client.take_messages(),
            Self::Http3(_) => (0, 0),
        }
    }

    /// Sends a ping with this content, if the protocol has any here. Returns whether it did.
    pub fn ping(&mut self, payload: &[u8; 8]) -> bool {
        match self {
            Self::Http2(client) => client.ping(payload),
            // That of QUIC is below HTTP/3.
            Self::Http3(_) => return false,
        }
        true
    }

    /// Whether the peer does not read what was sent before. It must not demand answers without end
    /// then.
    pub const fn set_blocked(&mut self, is_blocked: bool) {
        match self {
            Self::Http2(client) => client.set_blocked(is_blocked),
            // Nothing has to be answered.
            Self::Http3(_) => {}
        }
    }

    /// Whether requests may be sent. HTTP/2 first waits for the settings of the server.
    pub const fn is_ready(&self) -> bool {
        match self {
            Self::Http2(client) => client.is_ready(),
            Self::Http3(_) => true,
        }
    }

    /// The number of further requests that may be sent now.
    #[inline]
    pub fn room(&self) -> usize {
        either!(self, client => client.room())
    }

    /// The number of requests in flight.
    #[inline]
    pub const fn in_flight(&self) -> usize {
        either!(self, client => client.in_flight())
    }

    /// Whether the peer has announced that it closes the connection.
    pub const fn is_parting(&self) -> bool {
        match self {
            Self::Http2(client) => client.parting().is_some(),
            Self::Http3(client) => client.is_parting(),
        }
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags(&self) -> impl Iterator<Item = &T> {
        let (http2, http3) = match self {
            Self::Http2(client) => (Some(client.tags()), None),
            Self::Http3(client) => (None, Some(client.tags())),
        };
        http2.into_iter().flatten().chain(http3.into_iter().flatten())
    }

    /// The requests in flight, in the order in which they were sent.
    pub fn tags_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut T> {
        let (http2, http3) = match self {
            Self::Http2(client) => (Some(client.tags_mut()), None),
            Self::Http3(client) => (None, Some(client.tags_mut())),
        };
        http2.into_iter().flatten().chain(http3.into_iter().flatten())
    }

    /// Sends a request, given as HTTP/1 text. There must be [`room`](Self::room) for it. `repeats`:
    /// the same text is likely to be sent again.
    ///
    /// # Errors
    /// Returns the tag if the text is not that of a request.
    pub fn request(&mut self, tag: T, text: &[u8], repeats: bool) -> Result<(), T> {
        match self {
            Self::Http2(client) => client.request(tag, text, repeats),
            Self::Http3(client) => client.request(tag, text),
        }
    }

    /// Reads what the server sent.
    ///
    /// # Errors
    /// If the server broke the protocol. The connection is of no further use: the caller sends
    /// [`out`](Self::out), closes it, and [`cut`](Self::cut)s what is in flight.
    #[inline]
    pub fn read(&mut self, input: &[u8], sink: &mut impl ClientSink<T>) -> Result<(), Fault> {
        either!(self, client => client.read(input, sink))
    }

    /// Cancels the requests in flight that `is_over` selects, and passes them to `each`, together
    /// with whether any of the response had arrived.
    pub fn cancel(&mut self, is_over: impl FnMut(&T) -> bool, each: impl FnMut(T, bool)) {
        either!(self, client => client.cancel(is_over, each));
    }

    /// Ends the connection: passes all requests in flight to `each`, the oldest first, together
    /// with whether any of the response had arrived.
    pub fn cut(&mut self, each: impl FnMut(T, bool)) {
        either!(self, client => client.cut(each));
    }
}

/// The server's side of a connection.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "its owner has it in a box")]
pub enum StreamServer {
    /// HTTP/2. What it reads and writes are bytes.
    Http2(h2::Server),
    /// HTTP/3. What it reads and writes are [records](h3::records).
    Http3(h3::Server),
}

impl StreamServer {
    /// Starts a connection of HTTP/2.
    pub fn http2(limits: Limits) -> Self {
        Self::Http2(h2::Server::new(limits))
    }

    /// Starts a connection of HTTP/3.
    pub fn http3(limits: Limits) -> Self {
        Self::Http3(h3::Server::new(limits))
    }

    /// Bytes or records to be sent. The caller removes what it has sent.
    #[inline]
    pub const fn out(&mut self) -> &mut Vec<u8> {
        either!(self, server => server.out())
    }

    /// Returns the number of bytes in [`out`](Self::out), without the headers of records.
    pub fn out_bytes(&mut self) -> u64 {
        match self {
            Self::Http2(server) => server.out().len() as u64,
            Self::Http3(server) => h3::records::stream_bytes(server.out()),
        }
    }

    /// The number of streams in use.
    pub fn in_use(&self) -> usize {
        either!(self, server => server.in_use())
    }

    /// Reads what the client sent.
    ///
    /// # Errors
    /// If the client broke the protocol. The caller sends [`out`](Self::out) and closes the
    /// connection.
    #[inline]
    pub fn read(&mut self, input: &[u8], sink: &mut impl ServerSink) -> Result<(), Fault> {
        either!(self, server => server.read(input, sink))
    }

    /// Sends a response, given as the text of HTTP/1, followed by `filler_left` bytes made of
    /// repetitions of `filler`. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response, or if more bytes follow and `filler` is empty.
    pub fn respond(&mut self, stream: u32, text: &[u8], filler: &'static [u8], filler_left: u64) {
        either!(self, server => server.respond(stream, text, filler, filler_left));
    }

    /// Sends a response with a body, given as the text of HTTP/1, followed by `trailers`, which are
    /// field lines. It does nothing for a stream that was cancelled.
    ///
    /// # Panics
    /// If `text` is not a response with a body.
    pub fn respond_with_trailers(&mut self, stream: u32, text: &[u8], trailers: Vec<u8>) {
        either!(self, server => server.respond_with_trailers(stream, text, trailers));
    }

    /// Whether responses may stay open: those of event streams and WebSockets.
    pub const fn keeps_responses_open(&self) -> bool {
        matches!(self, Self::Http2(_))
    }

    /// Sends the head of a response that stays open; see [`h2::Server::respond_open`]. HTTP/3 has
    /// none.
    pub fn respond_open(&mut self, stream: u32, head: &[u8]) {
        if let Self::Http2(server) = self {
            server.respond_open(stream, head);
        }
    }

    /// Sends bytes of such a response. Returns how many wait for a window.
    pub fn push(&mut self, stream: u32, bytes: &[u8]) -> usize {
        let Self::Http2(server) = self else { return 0 };
        server.push(stream, bytes);
        server.unsent(stream)
    }

    /// Sets the field lines that follow the last byte of such a response.
    pub fn set_trailers(&mut self, stream: u32, lines: Vec<u8>) {
        if let Self::Http2(server) = self {
            server.set_trailers(stream, lines);
        }
    }

    /// Ends such a response after its last byte.
    pub fn finish(&mut self, stream: u32) {
        if let Self::Http2(server) = self {
            server.finish(stream);
        }
    }

    /// Sends an interim response `100 Continue`.
    pub fn respond_continue(&mut self, stream: u32) {
        either!(self, server => server.respond_continue(stream));
    }

    /// Continues with bodies that were held back. Returns whether more could be sent after
    /// [`out`](Self::out). `is_blocked`: whether the client does not read a stream of HTTP/3.
    /// HTTP/2 knows the windows by itself.
    pub fn continue_bodies(&mut self, is_blocked: impl Fn(u64) -> bool) -> bool {
        match self {
            Self::Http2(server) => server.continue_bodies(),
            Self::Http3(server) => server.continue_bodies(is_blocked),
        }
    }

    /// Announces that the connection will be closed. Open requests are still read and answered, and
    /// later ones are refused.
    pub fn part(&mut self) {
        either!(self, server => server.part());
    }
}
