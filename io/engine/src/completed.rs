//! [`CompletedRequest`]: the result of a request.

use wavetank_plan::Key;
use wavetank_units::Nanos;
use wavetank_wire::h1::ResponseEnd;

use crate::offered::Owner;
use crate::slab::Id;

/// A request that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletedRequest {
    pub(crate) owner: Owner,
    /// When it ended. The next request of the same user is intended at this instant.
    pub(crate) at: Nanos,
    /// Whether it succeeded.
    pub(crate) done: bool,
    /// Whether it could not even be written.
    pub(crate) unwritten: bool,
}

/// An event that exchanges report.
pub(crate) enum ExchangeEvent {
    /// A request ended.
    Resolved(CompletedRequest),
    /// A request of a session was answered. The session decides whether the response is acceptable.
    Answered(PendingVerdict),
}

/// A response that waits for its session's decision, by [`Exchanges::conclude`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingVerdict {
    pub(crate) exchange: Id,
    pub(crate) session: u32,
    /// The key under which its request is counted.
    pub(crate) key: Key,
    pub(crate) answer: ResponseEnd,
    /// Time since the intended instant.
    pub(crate) response: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) at: Nanos,
}
