//! [`Failure`]: why a request was not answered, as seen on the connection.

mod session_failures;

use std::borrow::Cow;
use std::net::SocketAddr;

use wavetank_driver::{CloseReason, Driver, Errno, StreamEndKind};
use wavetank_measure::ErrorClass;
use wavetank_plan::UrlProtocol;
use wavetank_units::{Nanos, address_text, registered, sentence};
use wavetank_wire::datagram::SendFault;
use wavetank_wire::h1::{FaultKind, ParseError};
use wavetank_wire::h2::{Fault, StreamFailure};
use wavetank_wire::messages::MessageFault;
use wavetank_wire::ws;

/// Why a request was not answered.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The class under which it is counted, unless the request is retried.
    pub(crate) class: ErrorClass,
    /// The kernel's error, if there was one.
    pub(crate) errno: Option<Errno>,
    /// The exact fault of the response or of TLS, if that was the cause.
    pub(crate) detail: Option<Cow<'static, str>>,
    /// The peer closed or reset the connection, as it may at any time between requests.
    pub(crate) peer_closed: bool,
    /// The request may be sent once more (`docs/measuring.md` §1).
    pub(crate) retry: bool,
}

/// The connection was to be closed after a response. Requests behind it on the same connection use
/// another one.
pub(crate) const AFTER_CLOSE: Failure =
    Failure { class: ErrorClass::ClosedEarly, errno: None, detail: None, peer_closed: true, retry: false };

/// An earlier request on the same connection failed, and the connection was lost with it.
pub(crate) const BEHIND_A_FAILURE: Failure = Failure::new(ErrorClass::ClosedEarly);

/// A body that a step evaluates is longer than the kept maximum.
pub(crate) const TOO_LONG_TO_LOOK: Failure =
    Failure::detailed(ErrorClass::BodyLimit, registered!("the body is too long to be evaluated"));

/// The connect succeeded, but the TLS handshake did not complete in time.
pub(crate) const HANDSHAKE_TIMEOUT: Failure = Failure::detailed(
    ErrorClass::ConnectTimeout,
    registered!("connected, but the TLS handshake did not end in time"),
);

/// The connection was made, but the server sent no HTTP/2 settings in time.
pub(crate) const GREETING_TIMEOUT: Failure = Failure::detailed(
    ErrorClass::ConnectTimeout,
    registered!("connected, but the server sent no HTTP/2 settings in time"),
);

/// The server closed a new connection instead of sending its HTTP/2 settings.
pub(crate) const GREETING_CLOSED: Failure = Failure::detailed(
    ErrorClass::Protocol,
    registered!("the server closed the connection instead of speaking HTTP/2"),
);

/// The TLS handshake did not agree on HTTP/2.
pub(crate) const HTTP2_REFUSED: Failure = Failure::detailed(
    ErrorClass::Protocol,
    registered!("the server did not agree on HTTP/2 in the TLS handshake (ALPN)"),
);

/// A request that was written out cannot be sent as HTTP/2.
pub(crate) const NOT_A_REQUEST: Failure = Failure::detailed(
    ErrorClass::Data,
    registered!("the text of the request is not valid HTTP and cannot be sent as HTTP/2"),
);

/// The connection was made, but the server did not answer the upgrade to WebSocket in time.
const UPGRADE_TIMEOUT: Failure = Failure::detailed(
    ErrorClass::ConnectTimeout,
    registered!("connected, but the server did not answer the WebSocket upgrade in time"),
);

/// The server closed a new connection instead of answering the upgrade to WebSocket.
const UPGRADE_CLOSED: Failure = Failure::detailed(
    ErrorClass::Protocol,
    registered!("the server closed the connection instead of answering the WebSocket upgrade"),
);

/// Like [`UPGRADE_TIMEOUT`], for an event stream.
const STREAM_TIMEOUT: Failure = Failure::detailed(
    ErrorClass::ConnectTimeout,
    registered!("connected, but the server did not answer the request for an event stream in time"),
);

/// Like [`UPGRADE_CLOSED`], for an event stream.
const STREAM_CLOSED: Failure = Failure::detailed(
    ErrorClass::Protocol,
    registered!("the server closed the connection instead of answering the request for an event stream"),
);

/// The server ended an event stream.
pub(crate) const STREAM_ENDED: Failure =
    Failure::detailed(ErrorClass::ClosedEarly, registered!("the server ended the event stream"));

/// The server ended a call with status OK, while a message was awaited.
pub(crate) const CALL_ENDED: Failure = Failure::detailed(
    ErrorClass::ClosedEarly,
    registered!("the server ended the call with status OK instead of answering"),
);

/// A step needs an open connection with messages.
pub(crate) const fn not_open(protocol: UrlProtocol) -> Failure {
    Failure::detailed(
        ErrorClass::ClosedEarly,
        match protocol {
            UrlProtocol::Events => {
                registered!("the event stream is not open: it has ended, or no sse.open came before")
            }
            UrlProtocol::Udp => registered!("the UDP socket is not open"),
            UrlProtocol::Grpc => {
                registered!("there is no open call: the server ended it, or no grpc.open came before")
            }
            UrlProtocol::Tcp => {
                registered!("the connection is not open: it was closed, or no tcp.connect came before")
            }
            _ => registered!("the WebSocket is not open: it was closed, or no ws.connect came before"),
        },
    )
}

/// The server did not answer the request that makes a connection ready for messages.
pub(crate) const fn opening_timeout(protocol: UrlProtocol) -> Failure {
    if matches!(protocol, UrlProtocol::Events) { STREAM_TIMEOUT } else { UPGRADE_TIMEOUT }
}

/// The server closed the connection instead of that.
pub(crate) const fn opening_closed(protocol: UrlProtocol) -> Failure {
    if matches!(protocol, UrlProtocol::Events) { STREAM_CLOSED } else { UPGRADE_CLOSED }
}

/// A connection that had served requests was ended as the next one was sent.
const BETWEEN_REQUESTS: &str =
    registered!("the server ended the kept connection between requests, unannounced");

impl Failure {
    /// Creates a failure of `class` without further details.
    pub(crate) const fn new(class: ErrorClass) -> Self {
        Self { class, errno: None, detail: None, peer_closed: false, retry: false }
    }

    /// Creates a failure of `class` with the exact fault.
    pub(crate) const fn detailed(class: ErrorClass, detail: &'static str) -> Self {
        Self { class, errno: None, detail: Some(Cow::Borrowed(detail)), peer_closed: false, retry: false }
    }
}

impl Failure {
    /// Returns the failure of a request with this deadline, if it broke at `at`. A server that
    /// knows the deadline of a gRPC call resets it then, and our own timer may fire later.
    #[must_use]
    pub(crate) fn past(self, deadline: Nanos, at: Nanos) -> Self {
        let is_late = self.class == ErrorClass::Reset && at >= deadline;
        if is_late { Self::new(ErrorClass::RequestTimeout) } else { self }
    }

    /// Whether no connection was made, which says something of the address alone.
    pub(crate) fn is_unreached(&self) -> bool {
        match self.class {
            ErrorClass::ConnectRefused | ErrorClass::ConnectUnreachable => self.errno.is_some(),
            ErrorClass::ConnectTimeout => self.detail.is_none(),
            _ => false,
        }
    }

    /// Returns the failure of a request after the peer ended its connection before any byte of a
    /// response.
    #[must_use]
    pub(crate) fn between_requests(self) -> Self {
        let detail = match self.errno {
            Some(errno) => Cow::Owned(
                sentence!("the server ended the kept connection between requests, unannounced: {errno}")
                    .into(),
            ),
            None => Cow::Borrowed(BETWEEN_REQUESTS),
        };
        Self { detail: Some(detail), ..self }
    }

    /// Returns the failure to connect with the address, where a target has several of them.
    #[must_use]
    pub(crate) fn at(self, address: Option<SocketAddr>) -> Self {
        match address.filter(|_| self.is_unreached()) {
            Some(address) => {
                let detail = sentence!("no connection to {}: {}", address_text(address), self.message());
                Self { detail: Some(Cow::Owned(detail.into())), ..self }
            }
            None => self,
        }
    }

    /// Returns the message: the exact fault, the kernel's error, or the class.
    pub(crate) fn message(&self) -> String {
        match (self.errno, &self.detail) {
            (_, Some(detail)) => detail.clone().into_owned(),
            (Some(errno), None) => errno.to_string(),
            (None, None) => self.class.name().replace('_', " "),
        }
    }
}

/// Returns why a connection could not be opened.
pub(crate) fn connect_failure(errno: Errno) -> Failure {
    let class = match errno.0 {
        // No Unix socket is there, or its accept queue is full (unix(7)).
        libc::ENOENT | libc::EAGAIN | libc::ECONNREFUSED => ErrorClass::ConnectRefused,
        // A connect never fails like this: the connection was accepted, and reset before it was
        // seen as open.
        libc::ECONNRESET => ErrorClass::Reset,
        libc::ETIMEDOUT => ErrorClass::ConnectTimeout,
        libc::ENETUNREACH
        | libc::EHOSTUNREACH
        | libc::ENETDOWN
        | libc::EHOSTDOWN
        | libc::EACCES
        | libc::EPERM => ErrorClass::ConnectUnreachable,
        libc::EADDRNOTAVAIL | libc::EADDRINUSE => ErrorClass::NoSourceAddress,
        libc::EMFILE | libc::ENFILE => ErrorClass::NoFiles,
        _ => ErrorClass::Other,
    };
    Failure { errno: Some(errno), ..Failure::new(class) }
}

/// Returns what the end of a connection means for the request on it. `driver` knows the fault of
/// TLS.
pub(crate) fn end_failure<D: Driver>(how: CloseReason, driver: &D) -> Failure {
    match how {
        CloseReason::Eof | CloseReason::Truncated => {
            Failure { peer_closed: true, ..Failure::new(ErrorClass::ClosedEarly) }
        }
        CloseReason::Broken(errno) => send_failure(errno),
        CloseReason::Tls => {
            Failure { detail: driver.tls_fault().map(Cow::Owned), ..Failure::new(ErrorClass::Tls) }
        }
        CloseReason::Stream => driver.stream_end().map_or(Failure::new(ErrorClass::Protocol), |end| {
            let class = match end.kind {
                StreamEndKind::Reset => ErrorClass::Reset,
                StreamEndKind::Closed => ErrorClass::ClosedEarly,
                StreamEndKind::Protocol => ErrorClass::Protocol,
            };
            Failure { detail: Some(Cow::Owned(end.reason)), ..Failure::new(class) }
        }),
    }
}

/// Returns the failure for a connection that broke during a send or on its own.
pub(crate) fn send_failure(errno: Errno) -> Failure {
    let (class, peer_closed) = match errno.0 {
        libc::ECONNRESET | libc::EPIPE => (ErrorClass::Reset, true),
        libc::ETIMEDOUT => (ErrorClass::RequestTimeout, false),
        libc::EHOSTUNREACH | libc::ENETUNREACH => (ErrorClass::ConnectUnreachable, false),
        // Only UDP gets these after it was opened: the answer of a host without a program on this
        // port, and that of a packet filter or interface of this host.
        libc::ECONNREFUSED => (ErrorClass::ConnectRefused, false),
        libc::EPERM | libc::EACCES | libc::ENETDOWN | libc::EHOSTDOWN => {
            (ErrorClass::ConnectUnreachable, false)
        }
        _ => (ErrorClass::Other, false),
    };
    Failure { errno: Some(errno), peer_closed, ..Failure::new(class) }
}

/// Returns the failure for a connection that ended during the TLS handshake. It is always a
/// handshake failure, whichever side ended the connection and by whatever means.
pub(crate) fn handshake_failure<D: Driver>(how: CloseReason, driver: &D) -> Failure {
    match how {
        CloseReason::Eof | CloseReason::Truncated => Failure::detailed(
            ErrorClass::Tls,
            registered!("the target closed the connection in the TLS handshake"),
        ),
        CloseReason::Broken(errno) => Failure {
            detail: Some(Cow::Owned(sentence!("the connection broke in the TLS handshake: {errno}").into())),
            ..Failure::new(ErrorClass::Tls)
        },
        CloseReason::Tls | CloseReason::Stream => end_failure(how, driver),
    }
}

/// Returns the failure for a fault of a connection or stream of HTTP/2 or HTTP/3.
pub(crate) fn http2_failure(fault: Fault) -> Failure {
    let class = if fault == Fault::BodyTooLarge { ErrorClass::BodyLimit } else { ErrorClass::Protocol };
    Failure::detailed(class, fault.text())
}

/// Returns the failure of one request in a stream. `retry`: a request that the peer did not touch
/// may be sent again.
pub(crate) fn stream_failure(failure: StreamFailure, retry: bool) -> Failure {
    match failure {
        StreamFailure::Fault(fault) => http2_failure(fault),
        StreamFailure::Reset(code) => Failure {
            detail: Some(Cow::Owned(sentence!("the server reset the stream: {code}").into())),
            ..Failure::new(ErrorClass::Reset)
        },
        StreamFailure::Refused => Failure {
            retry,
            ..Failure::detailed(ErrorClass::Reset, registered!("the server refused the stream"))
        },
        StreamFailure::GoneAway(code) => Failure {
            detail: Some(Cow::Owned(sentence!("the server closed the connection (GOAWAY, {code})").into())),
            retry,
            ..Failure::new(ErrorClass::ClosedEarly)
        },
    }
}

/// Returns the failure for a fault of a server that sends messages.
pub(crate) fn message_failure(fault: MessageFault) -> Failure {
    let class = if fault.is_limit() { ErrorClass::BodyLimit } else { ErrorClass::Protocol };
    Failure::detailed(class, fault.text())
}

/// Returns the failure for a datagram that cannot be sent.
pub(crate) const fn unsendable(fault: SendFault) -> Failure {
    Failure::detailed(ErrorClass::Data, fault.text())
}

/// Returns the failure for a server that answered the request for a WebSocket or an event stream
/// with another status.
pub(crate) fn opening_refused(protocol: UrlProtocol, status: u16) -> Failure {
    let detail = if matches!(protocol, UrlProtocol::Events) {
        sentence!("the server answered the request for an event stream with status {status}")
    } else {
        sentence!("the server answered the WebSocket upgrade with status {status}")
    };
    let class = if is_login(status) { ErrorClass::Login } else { ErrorClass::Status };
    Failure { detail: Some(Cow::Owned(detail.into())), ..Failure::new(class) }
}

/// Whether a server that answers the opening of a connection like this does not accept the client.
const fn is_login(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// Returns the failure for a server that closed a WebSocket.
pub(crate) fn websocket_closed(code: ws::CloseCode, reason: &[u8]) -> Failure {
    let reason = String::from_utf8_lossy(reason);
    let detail = if reason.is_empty() {
        sentence!("the server closed the WebSocket ({code})")
    } else {
        sentence!("the server closed the WebSocket ({code}): {reason}")
    };
    Failure { detail: Some(Cow::Owned(detail.into())), ..Failure::new(ErrorClass::ClosedEarly) }
}

/// Returns the failure for a fault of the response.
pub(crate) fn protocol_failure(fault: ParseError) -> Failure {
    let class = match fault.kind {
        FaultKind::BodyLimit => ErrorClass::BodyLimit,
        FaultKind::Protocol => ErrorClass::Protocol,
    };
    Failure::detailed(class, fault.reason.text())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_at_the_deadline_is_a_timeout() {
        let check = |class: ErrorClass, at: i64, expected: ErrorClass| {
            assert_eq!(Failure::new(class).past(Nanos(100), Nanos(at)).class, expected, "{class:?} at {at}");
        };
        check(ErrorClass::Reset, 99, ErrorClass::Reset);
        check(ErrorClass::Reset, 100, ErrorClass::RequestTimeout);
        check(ErrorClass::Protocol, 100, ErrorClass::Protocol);
    }
}
