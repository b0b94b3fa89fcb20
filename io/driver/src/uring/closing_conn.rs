//! [`ClosingConn`]: a closed connection with unsent bytes.

use wavetank_units::Nanos;

use crate::driver::ConnId;

/// A closed connection with unsent bytes.
pub(super) struct ClosingConn {
    pub(super) conn: ConnId,
    /// The time of the next check.
    pub(super) at: Nanos,
    /// Number of unsent bytes at the last check.
    pub(super) left: usize,
    /// Number of checks since the peer took some bytes.
    pub(super) looks: u32,
}
