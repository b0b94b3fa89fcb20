//! [`Machine`]: the protocol on a connection.

use wavetank_driver::HandshakeInfo;
use wavetank_units::Nanos;
use wavetank_wire::h1::{Limits, ResponseReader};
use wavetank_wire::messages::{IdleState, MessageClient, Operation, Started};
use wavetank_wire::streams::StreamClient;
use wavetank_wire::ws::Deflater;

use crate::failure::Failure;
use crate::inbox::{Inbox, InboxBudget};
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
    /// Why the peer has ended the connection, from which steps may still read what arrived before.
    pub(crate) end: Option<Failure>,
}

impl MessageConn {
    /// Creates one for a client.
    pub(crate) fn new(client: MessageClient, budget: InboxBudget) -> Self {
        Self { client, inbox: Inbox::new(budget), end: None }
    }

    /// Starts an operation, unless it reads a message that is here.
    pub(crate) fn start(
        &mut self,
        operation: Operation<'_>,
        deflater: &mut Option<Box<Deflater>>,
        last_id: &[u8],
    ) -> Started {
        if self.inbox.may_answer(operation) {
            return Started::Waits;
        }
        self.client.start(operation, deflater, last_id)
    }

    /// Whether something has arrived that a later step may read. A call is over with its end.
    pub(crate) fn has_unread(&self) -> bool {
        !matches!(self.client, MessageClient::Call(_)) && (!self.inbox.is_empty() || self.client.has_unread())
    }

    /// Returns how it continues, if it is open and has no other state.
    pub(crate) fn idle_state(&self) -> Option<IdleState> {
        // An idle client is between two messages, so nothing of one is left.
        self.client.idle_state().filter(|_| self.inbox.is_empty())
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
