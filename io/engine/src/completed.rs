//! [`CompletedRequest`]: what came of a request.

use wavetank_plan::{Key, Nanos};
use wavetank_wire::h1::ResponseEnd;

use crate::offered::Owner;
use crate::slab::Id;

/// A request came to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletedRequest {
    pub(crate) owner: Owner,
    /// When: the next one of the same user is intended now.
    pub(crate) at: Nanos,
    /// Whether it was done.
    pub(crate) done: bool,
    /// It could not even be written.
    pub(crate) unwritten: bool,
}

/// What is told of exchanges.
pub(crate) enum ExchangeEvent {
    /// One came to its end.
    Resolved(CompletedRequest),
    /// One of a session was answered: whether as wanted, the session says.
    Answered(PendingVerdict),
}

/// An answer that waits for its session's word, by [`Exchanges::conclude`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingVerdict {
    pub(crate) exchange: Id,
    pub(crate) session: u32,
    /// What its request is counted under.
    pub(crate) key: Key,
    pub(crate) answer: ResponseEnd,
    /// Since it was intended.
    pub(crate) response: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) at: Nanos,
}
