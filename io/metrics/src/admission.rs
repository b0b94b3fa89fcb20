//! [`Admission`]: which keys have series of their own.

use std::collections::BTreeSet;

/// Admits the first keys that occur, up to a limit. Later keys share one series, so that the number
/// of series is bounded and no counter ever falls.
#[derive(Debug)]
pub(crate) struct Admission<K> {
    admitted: BTreeSet<K>,
    most: usize,
}

impl<K: Ord + Copy> Admission<K> {
    pub(crate) const fn new(most: usize) -> Self {
        Self { admitted: BTreeSet::new(), most }
    }

    /// Whether `key` has a series of its own, from now on and forever.
    pub(crate) fn admit(&mut self, key: K) -> bool {
        if self.admitted.len() < self.most {
            self.admitted.insert(key);
        }
        self.admitted.contains(&key)
    }
}
