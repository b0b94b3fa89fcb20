//! [`Downsampled`]: values that come one after the other, of which a bounded number is kept.

/// Values in the order in which they came: all of them, or where they were too many every second, fourth, eighth, …
#[derive(Clone, Debug, PartialEq)]
pub struct Downsampled<T> {
    kept: Vec<T>,
    /// One of so many is kept.
    every: u64,
    seen: u64,
}

impl<T> Default for Downsampled<T> {
    fn default() -> Self {
        Self { kept: Vec::new(), every: 1, seen: 0 }
    }
}

impl<T> Downsampled<T> {
    /// Kept at most: enough to see any trend of a run, however long.
    pub const KEPT_MAX: usize = 1_024;

    /// One more.
    pub fn push(&mut self, value: T) {
        if self.seen.is_multiple_of(self.every) && self.kept.len() == Self::KEPT_MAX {
            let mut place = 0_usize;
            self.kept.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.every *= 2;
        }
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(value);
        }
        self.seen += 1;
    }

    /// Those that are kept, in order, as they are.
    pub fn into_inner(self) -> Vec<T> {
        self.kept
    }

    /// Those that are kept, in order.
    pub fn as_slice(&self) -> &[T] {
        &self.kept
    }

    /// One of so many is kept.
    pub const fn stride(&self) -> u64 {
        self.every
    }
}
