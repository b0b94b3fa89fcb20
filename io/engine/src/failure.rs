//! [`Failure`]: why a request was not answered, as the connection saw it.

use wavetank_driver::{Ended, Errno};
use wavetank_measure::ErrorClass;
use wavetank_wire::h1::{Fault, FaultKind};

/// Why a request was not answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    /// The class it counts under, unless it is tried again.
    pub(crate) class: ErrorClass,
    /// What the kernel said, if it did.
    pub(crate) errno: Option<Errno>,
    /// What exactly was wrong with the answer, if that was it.
    pub(crate) detail: Option<&'static str>,
    /// The peer closed or reset, as it may at any time between requests.
    pub(crate) peer_closed: bool,
    /// It may be sent once more (contract §1).
    pub(crate) retry: bool,
}

/// Bytes behind the answer that nobody asked for.
pub(crate) const SURPLUS: Failure =
    Failure { detail: Some("bytes after the end of the answer"), ..Failure::of(ErrorClass::Protocol) };

/// The connection was to be closed after an answer; requests behind it on the same connection go elsewhere.
pub(crate) const AFTER_CLOSE: Failure = Failure { peer_closed: true, ..Failure::of(ErrorClass::ClosedEarly) };

/// A request ahead on the same connection failed, and took the connection with it.
pub(crate) const BEHIND_A_FAILURE: Failure = Failure::of(ErrorClass::ClosedEarly);

impl Failure {
    /// A failure of `class`, nothing more known.
    pub(crate) const fn of(class: ErrorClass) -> Self {
        Self { class, errno: None, detail: None, peer_closed: false, retry: false }
    }
}

/// Why a connection could not be opened.
pub(crate) fn of_connect(errno: Errno) -> Failure {
    let class = match errno.0 {
        libc::ECONNREFUSED | libc::ECONNRESET => ErrorClass::ConnectRefused,
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
    Failure { errno: Some(errno), ..Failure::of(class) }
}

/// What an ended connection means for the request on it.
pub(crate) fn of_end(how: Ended) -> Failure {
    match how {
        Ended::Eof | Ended::Truncated => {
            Failure { peer_closed: true, ..Failure::of(ErrorClass::ClosedEarly) }
        }
        Ended::Broken(errno) => {
            let (class, peer_closed) = match errno.0 {
                libc::ECONNRESET | libc::EPIPE => (ErrorClass::Reset, true),
                libc::ETIMEDOUT => (ErrorClass::RequestTimeout, false),
                libc::EHOSTUNREACH | libc::ENETUNREACH => (ErrorClass::ConnectUnreachable, false),
                _ => (ErrorClass::Other, false),
            };
            Failure { errno: Some(errno), peer_closed, ..Failure::of(class) }
        }
        Ended::Tls => Failure::of(ErrorClass::Tls),
    }
}

/// What a fault of the answer means.
pub(crate) fn of_fault(fault: Fault) -> Failure {
    let class = match fault.kind {
        FaultKind::BodyLimit => ErrorClass::BodyLimit,
        FaultKind::Protocol => ErrorClass::Protocol,
    };
    Failure { detail: Some(fault.reason.text()), ..Failure::of(class) }
}
