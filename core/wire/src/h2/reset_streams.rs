//! [`ResetStreams`]: streams that this side has reset.

use std::collections::VecDeque;

/// The most streams that are remembered after a reset.
const REMEMBERED_MAX: usize = 64;

/// Streams that we have reset. The peer may have sent frames on them before it knew.
#[derive(Debug, Default)]
pub(in crate::h2) struct ResetStreams {
    last: VecDeque<u32>,
    /// Streams up to this one may have been reset and forgotten.
    forgotten: u32,
}

impl ResetStreams {
    pub(in crate::h2) fn insert(&mut self, id: u32) {
        if self.last.len() == REMEMBERED_MAX
            && let Some(oldest) = self.last.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest);
        }
        self.last.push_back(id);
    }

    pub(in crate::h2) fn may_contain(&self, id: u32) -> bool {
        id <= self.forgotten || self.last.contains(&id)
    }
}
