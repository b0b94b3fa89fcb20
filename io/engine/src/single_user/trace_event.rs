//! [`TraceEvent`]: what a lone user tells of his way, one thing after the other.

use std::net::SocketAddr;

use wavetank_journey::cookies::CookieOutcome;
use wavetank_journey::extract::ExtractError;
use wavetank_journey::value::Values;
use wavetank_measure::ErrorClass;
use wavetank_plan::Nanos;

use super::connection::Opened;

/// One thing that happened. Instants are those of the clock that the user was given.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A step begins: its place among its scenario's.
    Step(u16),
    /// A connection was opened.
    Opened(&'a Opened),
    /// A request was handed to the kernel.
    Sent(&'a SentRequest<'a>),
    /// An answer came whole.
    Answered(&'a FullResponse<'a>),
    /// No answer came, or none that can be read: what was seen of it.
    Unanswered {
        /// Why.
        trouble: &'a RequestFailure,
        /// The address that was tried, where there was one.
        address: Option<SocketAddr>,
        /// The beginning of what came, up to some KiB.
        seen: &'a [u8],
    },
    /// The answer sets a cookie: the header's value, and what became of it.
    Cookie(&'a [u8], CookieOutcome),
    /// An extraction: the variable, the words that say where it stands, what was found.
    Extracted(&'a str, &'a str, Result<&'a Values, ExtractError>),
    /// A check of the answer: its words; `None` if it holds, else what stood there instead.
    Checked(&'a str, Option<&'a str>),
    /// A count: its name, and whether this answer is counted.
    Counted(&'a str, bool),
    /// The step's request is over: what was wrong, if anything.
    Over(Option<&'a RequestFailure>),
    /// A variable was set by the journey itself.
    Set(&'a str, &'a Values),
    /// An `if` or a `while` asked: its words, and whether what stands in it is done now.
    Asked(&'a str, bool),
    /// A pause, and whether it was really waited for.
    Paused(Nanos, bool),
    /// A place where users wait for each other: its name. Alone nobody waits.
    Met(&'a str),
    /// A group's steps are over: its name, and how long they took.
    Grouped(&'a str, Nanos),
    /// A line of `log`.
    Logged(&'a str),
    /// The session ends before its end: by `end: session`, `end: run` or a failure.
    EndsEarly(EarlyEnd),
    /// So many requests were made that no more are.
    Enough(u64),
    /// The journey goes round and round without a request, and is left.
    Endless,
}

/// A request as it left.
#[derive(Clone, Copy, Debug)]
pub struct SentRequest<'a> {
    /// Why it left.
    pub why: RequestCause,
    /// Where to: index into the plan's targets.
    pub target: u16,
    /// The peer.
    pub address: SocketAddr,
    /// All of its bytes.
    pub bytes: &'a [u8],
    /// When.
    pub sent: Nanos,
    /// The connection had carried requests before.
    pub reused: bool,
}

/// Why a request leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestCause {
    /// The step asks for it.
    Step,
    /// The connection was closed before any byte of an answer came; the same goes out on a new one (contract §1).
    Retry,
    /// The server wanted to know who asks.
    Challenge,
    /// A redirect is followed.
    Redirect,
    /// A page embeds it.
    Resource,
}

/// An answer as it came.
#[derive(Clone, Copy, Debug)]
pub struct FullResponse<'a> {
    /// Its status.
    pub status: u16,
    /// Status line and field lines as they came, with the empty line.
    pub head: &'a [u8],
    /// The body, framing taken off, codings not; up to the limit of what is kept.
    pub body: &'a [u8],
    /// Bytes of the whole body.
    pub body_bytes: u64,
    /// When its request left.
    pub sent: Nanos,
    /// When its first byte came.
    pub first_byte: Nanos,
    /// When it was whole.
    pub complete: Nanos,
}

/// What was wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFailure {
    /// What it would have been counted under.
    pub class: ErrorClass,
    /// In words.
    pub detail: String,
}

/// Why a session ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyEnd {
    /// `end: session`.
    Session,
    /// `end: run`.
    Run,
    /// A request failed, and `on_failure` says so, or nothing more can be sent.
    Failure,
    /// A signal came.
    Cancelled,
}
