//! [`ReceiveOutcome`] and [`ReceiveAction`]: the result of a receive, and what to do about the next
//! one.

use crate::driver::CloseReason;

/// What is reported to the owner about a receive.
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

/// What to do about reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::uring) enum ReceiveAction {
    /// Nothing.
    AsIs,
    /// Read what is there.
    Now,
    /// End the receive that is armed; its end leads to the next one.
    Anew,
    /// There is nothing left to read: report the end.
    Over,
}
