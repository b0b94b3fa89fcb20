//! [`OfferedRequest`]: a request that the plan wants, and whose it is.

use wavetank_plan::{Key, Nanos};

/// Who a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An arrival of the open model: nobody waits for the end of it.
    Arrival,
    /// One that has the connection on this seat for its own.
    Transient(u32),
    /// A virtual user of the closed model, who has a seat of its own.
    User(u32),
    /// A session that stands somewhere in its journey, by its place: it stays while its request is under way.
    Session(u32),
}

/// A request that was offered and not yet begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedRequest {
    pub(crate) key: Key,
    pub(crate) intended: Nanos,
    pub(crate) owner: Owner,
}
