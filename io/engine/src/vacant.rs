//! [`Vacant`]: seats that are nobody's for ever: given out to who comes, and taken back when he goes.

/// See the module's description. Memory of a seat is used again, the last one given back first.
pub(crate) struct Vacant {
    free: Vec<u32>,
    /// From this one on no seat has been used yet.
    fresh: u32,
}

impl Vacant {
    /// All seats from `first` on.
    pub(crate) const fn from(first: u32) -> Self {
        Self { free: Vec::new(), fresh: first }
    }

    /// A seat for somebody. As many as are out at a time is what limits sessions and connections.
    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            let fresh = self.fresh;
            self.fresh += 1;
            fresh
        })
    }

    /// The seat's owner has gone, and there is no connection in it.
    pub(crate) fn put(&mut self, seat: u32) {
        self.free.push(seat);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_seats_come_before_fresh_ones_and_each_is_given_out_once() {
        let mut vacant = Vacant::from(3);
        assert_eq!((vacant.take(), vacant.take()), (3, 4));
        vacant.put(3);
        assert_eq!((vacant.take(), vacant.take(), vacant.take()), (3, 5, 6));
        vacant.put(6);
        vacant.put(4);
        assert_eq!((vacant.take(), vacant.take(), vacant.take()), (4, 6, 7));
    }
}
