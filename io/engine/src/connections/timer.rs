//! [`Timer`]: the subject of a timer.

use wavetank_driver::ConnId;

/// The subject of a timer.
#[derive(Clone, Copy)]
pub(super) enum Timer {
    /// A deadline of this slot.
    Seat(u32),
    /// The requests waiting for any connection to this target.
    Waiting(u16),
    /// The next ping of this slot, for this connection.
    Ping(u32, ConnId),
}
