//! [`SlotAllocator`]: slots without a permanent owner, which are allocated and released.

/// The allocator of such slots; see the module documentation. The slot released last is allocated
/// first, so memory is reused.
pub(crate) struct SlotAllocator {
    free: Vec<u32>,
    /// No slot from this one on was used yet.
    fresh: u32,
}

impl SlotAllocator {
    /// Creates an allocator for all slots from `first` on.
    pub(crate) const fn from(first: u32) -> Self {
        Self { free: Vec::new(), fresh: first }
    }

    /// Allocates a slot. The number of slots in use is bounded by the limits on sessions and
    /// connections.
    pub(crate) fn pop(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let fresh = self.fresh;
            self.fresh += 1;
            fresh
        })
    }

    /// Releases a slot. Its owner has gone, and it has no connection.
    pub(crate) fn push(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_slots_come_before_fresh_ones_and_each_is_given_out_once() {
        let mut vacant = SlotAllocator::from(3);
        assert_eq!((vacant.pop(), vacant.pop()), (3, 4));
        vacant.push(3);
        assert_eq!((vacant.pop(), vacant.pop(), vacant.pop()), (3, 5, 6));
        vacant.push(6);
        vacant.push(4);
        assert_eq!((vacant.pop(), vacant.pop(), vacant.pop()), (4, 6, 7));
    }
}
