//! [`SlotAllocator`]: seats that are nobody's for ever: given out to who comes, and taken back when he goes.

/// See the module's description. Memory of a seat is used again, the last one given back first.
pub(crate) struct SlotAllocator {
    free: Vec<u32>,
    /// From this one on no seat has been used yet.
    fresh: u32,
}

impl SlotAllocator {
    /// All seats from `first` on.
    pub(crate) const fn from(first: u32) -> Self {
        Self { free: Vec::new(), fresh: first }
    }

    /// A seat for somebody. As many as are out at a time is what limits sessions and connections.
    pub(crate) fn pop(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let fresh = self.fresh;
            self.fresh += 1;
            fresh
        })
    }

    /// The seat's owner has gone, and there is no connection in it.
    pub(crate) fn push(&mut self, seat: u32) {
        self.free.push(seat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_seats_come_before_fresh_ones_and_each_is_given_out_once() {
        let mut vacant = SlotAllocator::from(3);
        assert_eq!((vacant.pop(), vacant.pop()), (3, 4));
        vacant.push(3);
        assert_eq!((vacant.pop(), vacant.pop(), vacant.pop()), (3, 5, 6));
        vacant.push(6);
        vacant.push(4);
        assert_eq!((vacant.pop(), vacant.pop(), vacant.pop()), (4, 6, 7));
    }
}
