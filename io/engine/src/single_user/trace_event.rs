//! [`TraceEvent`]: an event that a single user reports.

use std::net::SocketAddr;

use wavetank_journey::GrpcCodec;
use wavetank_journey::cookies::CookieOutcome;
use wavetank_journey::extract::ExtractError;
use wavetank_journey::value::Values;
use wavetank_measure::ErrorClass;
use wavetank_units::Nanos;

use super::connection::Opened;

/// One event. Instants are on the clock that the user was given.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A step starts: its index within its scenario.
    Step(u16),
    /// A connection was opened.
    Opened(&'a Opened),
    /// A request was handed to the kernel.
    Sent(&'a SentRequest<'a>),
    /// A complete response arrived.
    Answered(&'a FullResponse<'a>),
    /// No response arrived, or an unreadable one.
    Unanswered {
        /// The reason.
        trouble: &'a RequestFailure,
        /// The address that was tried, if any.
        address: Option<SocketAddr>,
        /// The start of the received bytes, up to some KiB.
        seen: &'a [u8],
    },
    /// The response sets a cookie: the header's value, and the outcome.
    Cookie(&'a [u8], CookieOutcome),
    /// An extraction: the variable, the expression that describes the place, the result.
    Extracted(&'a str, &'a str, Result<&'a Values, ExtractError>),
    /// A check of the response: its expression; `None` if it passes, otherwise the actual value.
    Checked(&'a str, Option<&'a str>),
    /// A count: its name, and whether this response is counted.
    Counted(&'a str, bool),
    /// The step's request is over: what failed, if anything.
    Over(Option<&'a RequestFailure>),
    /// The journey itself set a variable.
    Set(&'a str, &'a Values),
    /// The condition of an `if` or a `while`: its expression, and whether the body is run now.
    Asked(&'a str, bool),
    /// A pause, and whether it was really waited for.
    Paused(Nanos, bool),
    /// A rendezvous: its name. A single user does not wait there.
    Met(&'a str),
    /// The steps of a group are over: its name and duration.
    Grouped(&'a str, Nanos),
    /// A line of `log`.
    Logged(&'a str),
    /// The session ends early: by `end: session`, `end: run` or a failure.
    EndsEarly(EarlyEnd),
    /// The limit of requests was reached; this is the number of requests made.
    Enough(u64),
    /// The journey loops without a request, and is stopped.
    Endless,
}

/// A request as it was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'a> {
    /// Why it was sent.
    pub why: RequestCause,
    /// The target: index into the plan's targets.
    pub target: u16,
    /// The peer.
    pub address: SocketAddr,
    /// All of its bytes.
    pub bytes: &'a [u8],
    /// When it was sent.
    pub sent: Nanos,
    /// The connection had carried requests before.
    pub reused: bool,
    /// Reads its messages, if it is a gRPC call.
    pub call: Option<&'a GrpcCodec>,
}

/// Why a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCause {
    /// The step asks for it.
    Step,
    /// The connection was closed before any byte of a response arrived. The same request is sent on
    /// a new one (`docs/measuring.md` §1).
    Retry,
    /// The server requested authentication.
    Challenge,
    /// A redirect is followed.
    Redirect,
    /// A page embeds it.
    Resource,
}

/// A response as received.
#[derive(Clone, Copy, Debug)]
pub struct FullResponse<'a> {
    /// Its status.
    pub status: u16,
    /// Status line and field lines as received, with the empty line. The end of a gRPC call that
    /// stayed open has no status line.
    pub head: &'a [u8],
    /// The trailers as lines, if there are any; the fields of an event.
    pub trailers: &'a [u8],
    /// The body without framing, still content-encoded, up to the limit of what is kept.
    pub body: &'a [u8],
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// When its request was sent.
    pub sent: Nanos,
    /// When its first byte arrived.
    pub first_byte: Nanos,
    /// When it was complete.
    pub complete: Nanos,
    /// Reads its messages, if it answers a gRPC call.
    pub call: Option<&'a GrpcCodec>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailure {
    /// The class under which it would have been counted.
    pub class: ErrorClass,
    /// A description.
    pub detail: String,
}

/// Why a session ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyEnd {
    /// `end: session`.
    Session,
    /// `end: run`.
    Run,
    /// A request failed and `on_failure` ends the session, or nothing more can be sent.
    Failure,
    /// A signal arrived.
    Cancelled,
}
