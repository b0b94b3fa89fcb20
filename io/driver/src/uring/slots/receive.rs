//! [`ReceiveOutcome`] and [`ReceiveAction`]: the result of a receive, and how to continue reading.

use super::{ENDING, Slots};
use crate::driver::{CloseReason, ConnId};

/// The result of a receive, for the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::uring) enum ReceiveOutcome {
    Nothing,
    Bytes(usize),
    End(CloseReason),
    /// The end of a connection on which a send had failed before.
    Failed,
    /// No buffer was free.
    Starved,
}

/// How to continue reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::uring) enum ReceiveAction {
    /// Change nothing.
    AsIs,
    /// Read the available bytes.
    Now,
    /// Cancel the armed receive; its completion arms the next one.
    Again,
    /// Nothing is left to read: report the end.
    Over,
}

impl Slots {
    /// Whether the peer of `conn` is known to send no more than what is there already.
    #[inline]
    pub(in crate::uring) fn is_ending(&self, conn: ConnId) -> bool {
        let slot = self.all.get(conn.slot as usize);
        slot.is_some_and(|slot| slot.generation == conn.generation && slot.has(ENDING))
    }
}
