//! [`PathCounts`]: how often each path was asked for.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use super::counter::Counter;

/// Most paths told apart.
pub(crate) const PATHS_MAX: usize = 256;
/// Longer paths count as `other`.
const PATH_BYTES_MAX: usize = 200;
/// Where a path without a counter of its own is counted.
const OTHER: u32 = u32::MAX;

/// Which counter a path has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathSlot(u32);

impl PathSlot {
    /// Not that of all others.
    pub(crate) const fn is_own(self) -> bool {
        self.0 != OTHER
    }
}

/// Paths in the order in which they came, each with its count.
#[derive(Debug)]
pub(crate) struct PathCounts {
    named: Vec<Named>,
    /// How many of them have a name.
    len: AtomicUsize,
    other: Counter,
}

/// A path and its count. The name stays as it is from when it is within [`PathCounts::len`].
#[derive(Debug)]
struct Named {
    count: Counter,
    len: AtomicU8,
    bytes: [AtomicU8; PATH_BYTES_MAX],
}

impl Default for PathCounts {
    fn default() -> Self {
        let named = || Named {
            count: Counter::default(),
            len: AtomicU8::new(0),
            bytes: [const { AtomicU8::new(0) }; PATH_BYTES_MAX],
        };
        let named = std::iter::repeat_with(named).take(PATHS_MAX).collect();
        Self { named, len: AtomicUsize::new(0), other: Counter::default() }
    }
}

impl PathCounts {
    /// A counter for a path that has none yet; that of all others if there is no room.
    pub(crate) fn add(&self, path: &[u8]) -> PathSlot {
        let at = self.len.load(Ordering::Relaxed);
        let (Some(named), true) = (self.named.get(at), path.len() <= PATH_BYTES_MAX) else {
            return PathSlot(OTHER);
        };
        named.count.set(0);
        named.len.store(path.len() as u8, Ordering::Relaxed);
        for (to, &from) in named.bytes.iter().zip(path) {
            to.store(from, Ordering::Relaxed);
        }
        self.len.store(at + 1, Ordering::Release);
        PathSlot(at as u32)
    }

    /// One more request.
    #[inline]
    pub(crate) fn count(&self, slot: PathSlot) {
        match self.named.get(slot.0 as usize) {
            Some(named) => named.count.add(1),
            None => self.other.add(1),
        }
    }

    /// Forget all.
    pub(super) fn clear(&self) {
        self.len.store(0, Ordering::Relaxed);
        self.other.set(0);
    }

    /// Paths that were asked for and how often, and the count of all others.
    pub(super) fn read(&self) -> (Vec<(Vec<u8>, u64)>, u64) {
        let len = self.len.load(Ordering::Acquire);
        let named = self.named.iter().take(len).map(Named::read).filter(|(_, count)| *count > 0);
        (named.collect(), self.other.get())
    }
}

impl Named {
    fn read(&self) -> (Vec<u8>, u64) {
        let len = usize::from(self.len.load(Ordering::Relaxed));
        (self.bytes.iter().take(len).map(|byte| byte.load(Ordering::Relaxed)).collect(), self.count.get())
    }
}
