//! [`OfferedRequest`]: a request that the plan intends, and its owner.

use wavetank_plan::Key;
use wavetank_units::Nanos;

/// The owner of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// An arrival of the open loop: no virtual user waits for its end.
    Arrival,
    /// An arrival with its own connection on this slot.
    Transient(u32),
    /// A virtual user of the closed loop, which has its own slot.
    User(u32),
    /// A session within its journey, by its index. It stays while its request is in flight.
    Session(u32),
}

/// A request that was offered and not started yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfferedRequest {
    pub(crate) key: Key,
    pub(crate) intended: Nanos,
    pub(crate) owner: Owner,
}
