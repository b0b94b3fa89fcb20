//! [`PendingOps`]: the operations of a slot that are in flight.

use crate::token::Operation;

/// A set of operations in flight, at most one of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::uring) struct PendingOps(u16);

impl PendingOps {
    /// The empty set.
    pub(super) const NONE: Self = Self(0);

    pub(in crate::uring) const fn has(self, operation: Operation) -> bool {
        self.0 & (1 << operation as u16) != 0
    }

    pub(super) const fn with(self, operation: Operation) -> Self {
        Self(self.0 | (1 << operation as u16))
    }

    pub(super) const fn without(self, operation: Operation) -> Self {
        Self(self.0 & !(1 << operation as u16))
    }
}
