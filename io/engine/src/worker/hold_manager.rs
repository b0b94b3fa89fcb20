//! [`HoldManager`]: the pending work for users that hold connections.

use std::collections::VecDeque;

use wavetank_pace::Partition;
use wavetank_plan::Plan;
use wavetank_units::Nanos;

use crate::reconnect::ReconnectQueue;

/// The pending work for users that hold connections, done in limited steps per turn. No list is
/// longer than the number of users.
pub(crate) struct HoldManager {
    /// Users with a connection to be opened, in planned order.
    pub(super) opening: VecDeque<ToOpen>,
    /// Users that may be above the target number, the last to start first.
    pub(super) leaving: VecDeque<u32>,
    /// Users with a connection to be reopened.
    pub(super) reopening: ReconnectQueue,
    /// The load was ended early, and all users were notified.
    pub(super) ended: bool,
}

/// A user with a connection to be opened.
pub(super) struct ToOpen {
    pub(super) user: u32,
    /// When the plan intended the opening; `None`: it is a reconnect, which happens as soon as
    /// possible.
    pub(super) planned: Option<Nanos>,
}

impl HoldManager {
    /// Creates the manager for the `share` of `plan` that belongs to this thread. No connection is
    /// held yet.
    pub(crate) fn new(plan: &Plan, share: Partition) -> Self {
        let (opening, leaving) = (VecDeque::new(), VecDeque::new());
        Self { opening, leaving, reopening: ReconnectQueue::new(plan, share), ended: false }
    }

    /// Whether there is work for the next turn. Openings count only if they are possible now.
    #[inline]
    pub(super) fn has_work(&self, may_open: bool) -> bool {
        !self.leaving.is_empty() || (may_open && !self.opening.is_empty())
    }

    /// Returns when the next connection is to be reopened.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Nanos> {
        self.reopening.next_deadline()
    }
}
