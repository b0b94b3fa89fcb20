//! [`PathCounts`]: the number of requests for each path.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::counter::Counter;

/// Maximum number of paths counted separately.
pub(crate) const PATHS_MAX: usize = 256;
/// Longer paths count as `other`.
const PATH_BYTES_MAX: usize = 200;
/// Index of the counter for paths without a separate one, after all others.
const OTHER: u16 = PATHS_MAX as u16;

/// Identifies the counter of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathSlot(u16);

impl PathSlot {
    /// Whether it is a separate counter, not the common one.
    pub(crate) const fn has_own_path(self) -> bool {
        self.0 != OTHER
    }
}

/// Paths in the order in which they came, each with its count.
#[derive(Debug)]
pub(crate) struct PathCounts {
    names: Vec<Name>,
    /// Number of paths with a separate counter.
    len: AtomicUsize,
    /// Counts of these paths, and of all other paths.
    counts: [Counter; PATHS_MAX + 1],
}

/// A path. It does not change while it is within [`PathCounts::len`].
#[derive(Debug)]
struct Name {
    len: AtomicU8,
    bytes: [AtomicU8; PATH_BYTES_MAX],
}

impl Default for PathCounts {
    fn default() -> Self {
        let name = || Name { len: AtomicU8::new(0), bytes: [const { AtomicU8::new(0) }; PATH_BYTES_MAX] };
        Self {
            names: std::iter::repeat_with(name).take(PATHS_MAX).collect(),
            len: AtomicUsize::new(0),
            counts: std::array::from_fn(|_| Counter::default()),
        }
    }
}

impl PathCounts {
    /// Returns a counter for a path that has none yet, or the common one if there is no room.
    pub(crate) fn add(&self, path: &[u8]) -> PathSlot {
        let at = self.len.load(Ordering::Relaxed);
        let (Some(name), true) = (self.names.get(at), path.len() <= PATH_BYTES_MAX) else {
            return PathSlot(OTHER);
        };
        self.counts[at].set(0);
        name.len.store(path.len() as u8, Ordering::Relaxed);
        for (to, &from) in name.bytes.iter().zip(path) {
            to.store(from, Ordering::Relaxed);
        }
        self.len.store(at + 1, Ordering::Release);
        PathSlot(at as u16)
    }

    /// Counts a request.
    #[inline]
    pub(crate) fn count(&self, slot: PathSlot) {
        self.counts[usize::from(slot.0)].add(1);
    }

    /// Clears all counts.
    pub(super) fn clear(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.counts[usize::from(OTHER)].set(0);
    }

    /// Returns the requested paths with their counts, and the count of all others.
    pub(super) fn read(&self) -> (Vec<(Vec<u8>, u64)>, u64) {
        let len = self.len.load(Ordering::Acquire);
        let counts = self.counts.iter().map(Counter::get);
        let named = self.names.iter().map(Name::read).zip(counts).take(len).filter(|(_, count)| *count > 0);
        (named.collect(), self.counts[usize::from(OTHER)].get())
    }
}

impl Name {
    fn read(&self) -> Vec<u8> {
        let len = usize::from(self.len.load(Ordering::Relaxed));
        self.bytes.iter().take(len).map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}
