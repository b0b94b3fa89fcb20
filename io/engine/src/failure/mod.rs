//! [`Failure`]: why a request was not answered, as the connection saw it.

mod session_failures;

use std::borrow::Cow;

use wavetank_driver::{CloseReason, Driver, Errno};
use wavetank_measure::ErrorClass;
use wavetank_wire::h1::{FaultKind, ParseError};

/// Why a request was not answered.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// The class it counts under, unless it is tried again.
    pub(crate) class: ErrorClass,
    /// What the kernel said, if it did.
    pub(crate) errno: Option<Errno>,
    /// What exactly was wrong with the answer or with TLS, if that was it.
    pub(crate) detail: Option<Cow<'static, str>>,
    /// The peer closed or reset, as it may at any time between requests.
    pub(crate) peer_closed: bool,
    /// It may be sent once more (contract §1).
    pub(crate) retry: bool,
}

/// Bytes behind the answer that nobody asked for.
pub(crate) const SURPLUS: Failure =
    Failure::detailed(ErrorClass::Protocol, "bytes after the end of the answer");

/// The connection was to be closed after an answer; requests behind it on the same connection go elsewhere.
pub(crate) const AFTER_CLOSE: Failure =
    Failure { class: ErrorClass::ClosedEarly, errno: None, detail: None, peer_closed: true, retry: false };

/// A request ahead on the same connection failed, and took the connection with it.
pub(crate) const BEHIND_A_FAILURE: Failure = Failure::new(ErrorClass::ClosedEarly);

/// A body that a step looks into and that is longer than what is kept of one.
pub(crate) const TOO_LONG_TO_LOOK: Failure =
    Failure::detailed(ErrorClass::BodyLimit, "the body is longer than what can be looked into");

/// Connected, and then no end of the TLS handshake in time.
pub(crate) const HANDSHAKE_TIMEOUT: Failure =
    Failure::detailed(ErrorClass::ConnectTimeout, "connected, but the TLS handshake did not end in time");

impl Failure {
    /// A failure of `class`, nothing more known.
    pub(crate) const fn new(class: ErrorClass) -> Self {
        Self { class, errno: None, detail: None, peer_closed: false, retry: false }
    }

    /// A failure of `class`, with what exactly was wrong.
    pub(crate) const fn detailed(class: ErrorClass, detail: &'static str) -> Self {
        Self { class, errno: None, detail: Some(Cow::Borrowed(detail)), peer_closed: false, retry: false }
    }
}

impl Failure {
    /// In words: what the kernel said, or what exactly was wrong, or the class.
    pub(crate) fn message(&self) -> String {
        match (self.errno, &self.detail) {
            (Some(errno), _) => errno.to_string(),
            (None, Some(detail)) => detail.clone().into_owned(),
            (None, None) => self.class.name().replace('_', " "),
        }
    }
}

/// Why a connection could not be opened.
pub(crate) fn connect_failure(errno: Errno) -> Failure {
    let class = match errno.0 {
        libc::ECONNREFUSED => ErrorClass::ConnectRefused,
        // A connect is never answered by that: somebody listened, and reset it before we looked.
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

/// What an ended connection means for the request on it; `driver` knows what was wrong with TLS.
pub(crate) fn end_failure<D: Driver>(how: CloseReason, driver: &D) -> Failure {
    match how {
        CloseReason::Eof | CloseReason::Truncated => {
            Failure { peer_closed: true, ..Failure::new(ErrorClass::ClosedEarly) }
        }
        CloseReason::Broken(errno) => send_failure(errno),
        CloseReason::Tls => {
            Failure { detail: driver.tls_fault().map(Cow::Owned), ..Failure::new(ErrorClass::Tls) }
        }
    }
}

/// What it means that a connection broke, under a send or by itself.
pub(crate) fn send_failure(errno: Errno) -> Failure {
    let (class, peer_closed) = match errno.0 {
        libc::ECONNRESET | libc::EPIPE => (ErrorClass::Reset, true),
        libc::ETIMEDOUT => (ErrorClass::RequestTimeout, false),
        libc::EHOSTUNREACH | libc::ENETUNREACH => (ErrorClass::ConnectUnreachable, false),
        _ => (ErrorClass::Other, false),
    };
    Failure { errno: Some(errno), peer_closed, ..Failure::new(class) }
}

/// What it means that a connection ended within the TLS handshake: it could not be opened, and TLS is where it
/// ended, whoever ended it and by what means.
pub(crate) fn handshake_failure<D: Driver>(how: CloseReason, driver: &D) -> Failure {
    match how {
        CloseReason::Eof | CloseReason::Truncated => {
            Failure::detailed(ErrorClass::Tls, "the target closed the connection in the TLS handshake")
        }
        CloseReason::Broken(errno) => Failure {
            detail: Some(Cow::Owned(format!("the connection broke in the TLS handshake: {errno}"))),
            ..Failure::new(ErrorClass::Tls)
        },
        CloseReason::Tls => end_failure(how, driver),
    }
}

/// What a fault of the answer means.
pub(crate) fn protocol_failure(fault: ParseError) -> Failure {
    let class = match fault.kind {
        FaultKind::BodyLimit => ErrorClass::BodyLimit,
        FaultKind::Protocol => ErrorClass::Protocol,
    };
    Failure::detailed(class, fault.reason.text())
}
