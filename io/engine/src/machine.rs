//! [`Machine`]: the protocol on a connection.

use std::collections::VecDeque;

use wavetank_driver::HandshakeInfo;
use wavetank_units::Nanos;
use wavetank_wire::h1::{Limits, ResponseReader};
use wavetank_wire::messages::{IdleState, MessageClient};
use wavetank_wire::streams::StreamClient;

use crate::request_queue::QueuedRequest;

/// The protocol on a connection.
///
/// HTTP/1 is inline, because a million connections may use it. Its requests are in the connection's
/// [`RequestQueue`](crate::request_queue::RequestQueue). A protocol with responses in any order
/// keeps its requests itself.
pub(crate) enum Machine {
    /// HTTP/1, and the response that is read.
    Http1(ResponseReader),
    /// HTTP/2 or HTTP/3, with its streams.
    Streams(Box<StreamClient<StreamRequest>>),
    /// Messages: WebSocket, event stream, TCP, UDP. Its requests are in the connection's queue, as
    /// with HTTP/1.
    Messages(Box<MessageConn>),
}

/// A connection that carries messages, and those that no request awaits.
pub(crate) struct MessageConn {
    pub(crate) client: MessageClient,
    pub(crate) inbox: Inbox,
}

/// A message that no request awaits.
#[derive(Default)]
pub(crate) struct Message {
    /// Its field lines.
    pub(crate) fields: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

/// The number of messages that are kept for later requests.
const INBOX_MAX: usize = 16;
/// The number of their bytes. One larger message is kept as well.
const INBOX_BYTES_MAX: usize = 1 << 20;

/// Messages that arrived while no request awaited one, the oldest first. Beyond the limits the
/// oldest is discarded.
#[derive(Default)]
pub(crate) struct Inbox {
    messages: VecDeque<Message>,
    bytes: usize,
    /// A message that no request awaits yet, or only waits for, as far as it has arrived.
    pub(crate) partial: Option<Message>,
}

impl Inbox {
    /// Adds a message.
    pub(crate) fn push(&mut self, message: Message) {
        self.bytes += message.bytes();
        self.messages.push_back(message);
        while self.messages.len() > INBOX_MAX || (self.bytes > INBOX_BYTES_MAX && self.messages.len() > 1) {
            self.pop();
        }
    }

    /// Passes the bodies of all messages to `each`, and of the one that has begun.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        while let Some(message) = self.pop() {
            each(&message.body);
        }
        if let Some(partial) = self.partial.take() {
            each(&partial.body);
        }
    }

    /// Takes the oldest message.
    pub(crate) fn pop(&mut self) -> Option<Message> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.bytes();
        Some(message)
    }
}

impl Message {
    const fn bytes(&self) -> usize {
        self.fields.len() + self.body.len()
    }
}

impl MessageConn {
    /// Creates one for a client.
    pub(crate) fn new(client: MessageClient) -> Self {
        Self { client, inbox: Inbox::default() }
    }

    /// Returns how it continues, if it is open and has no other state.
    pub(crate) fn idle_state(&self) -> Option<IdleState> {
        // An idle client is between two messages, so nothing of one is left.
        self.client.idle_state().filter(|_| self.inbox.messages.is_empty())
    }
}

/// A request on a stream of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamRequest {
    pub(crate) request: QueuedRequest,
    /// When it was handed to the driver; [`Nanos::MAX`] before that.
    pub(crate) sent: Nanos,
    /// When the first byte of its response arrived.
    pub(crate) first_byte: Nanos,
}

impl StreamRequest {
    /// Creates one that was not sent yet.
    pub(crate) const fn new(request: QueuedRequest) -> Self {
        Self { request, sent: Nanos::MAX, first_byte: Nanos::MAX }
    }

    /// Whether it was handed to the driver.
    pub(crate) fn is_sent(&self) -> bool {
        self.sent != Nanos::MAX
    }
}

impl Machine {
    /// Creates an HTTP/1 machine that awaits no response.
    pub(crate) fn http1(limits: Limits) -> Self {
        Self::Http1(ResponseReader::new(limits))
    }

    /// Whether it is an HTTP/1 machine that awaits no response, and thus has no state.
    #[inline]
    pub(crate) fn is_idle_http1(&self) -> bool {
        matches!(self, Self::Http1(reader) if reader.is_idle())
    }

    /// Whether it has no state apart from being open.
    pub(crate) fn is_idle(&self) -> bool {
        match self {
            Self::Messages(own) => own.idle_state().is_some(),
            other => other.is_idle_http1(),
        }
    }

    /// Whether it is HTTP/1.
    pub(crate) const fn is_http1(&self) -> bool {
        matches!(self, Self::Http1(_))
    }

    /// Whether its requests are in streams.
    #[inline]
    pub(crate) const fn has_streams(&self) -> bool {
        matches!(self, Self::Streams(_))
    }
}

/// Whether a handshake agreed on HTTP/2.
pub(crate) fn speaks_http2(secured: Option<&HandshakeInfo>) -> bool {
    secured.and_then(|secured| secured.alpn.as_ref()).is_some_and(|alpn| alpn.as_str() == "h2")
}

/// Returns when a ping with this content was sent.
pub(crate) fn ping_time(payload: &[u8]) -> Option<Nanos> {
    payload.try_into().ok().map(i64::from_be_bytes).map(Nanos)
}
