//! [`PathCounts`]: how often each path was asked for.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::counter::Counter;

/// Most paths told apart.
pub(crate) const PATHS_MAX: usize = 256;
/// Longer paths count as `other`.
const PATH_BYTES_MAX: usize = 200;
/// Where a path without a counter of its own is counted: behind those that have one.
const OTHER: u16 = PATHS_MAX as u16;

/// Which counter a path has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathSlot(u16);

impl PathSlot {
    /// Not that of all others.
    pub(crate) const fn has_own_path(self) -> bool {
        self.0 != OTHER
    }
}

/// Paths in the order in which they came, each with its count.
#[derive(Debug)]
pub(crate) struct PathCounts {
    names: Vec<Name>,
    /// How many paths have a name.
    len: AtomicUsize,
    /// Of the names, and of all other paths.
    counts: [Counter; PATHS_MAX + 1],
}

/// A path. It stays as it is from when it is within [`PathCounts::len`].
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
    /// A counter for a path that has none yet; that of all others if there is no room.
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

    /// One more request.
    #[inline]
    pub(crate) fn count(&self, slot: PathSlot) {
        self.counts[usize::from(slot.0)].add(1);
    }

    /// Forget all.
    pub(super) fn clear(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.counts[usize::from(OTHER)].set(0);
    }

    /// Paths that were asked for and how often, and the count of all others.
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
