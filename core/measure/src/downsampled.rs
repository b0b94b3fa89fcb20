//! [`Downsampled`]: a series of values of which a bounded number is kept.

/// Values in order of arrival: all of them, or when there are too many, every second, fourth,
/// eighth, … value.
#[derive(Clone, Debug, PartialEq)]
pub struct Downsampled<T> {
    kept: Vec<T>,
    /// One of every `every` values is kept.
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

    /// Returns the kept values, in order.
    pub fn into_inner(self) -> Vec<T> {
        self.kept
    }

    /// The kept values, in order.
    pub fn as_slice(&self) -> &[T] {
        &self.kept
    }

    /// One of this many values is kept.
    pub const fn stride(&self) -> u64 {
        self.every
    }
}
