//! [`Counter`]: a number that one thread writes and others read.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one thread writes and others read at any time.
///
/// Since there is one writer, adding is a load and a store. Nothing is locked, so nothing stays
/// locked if the writer is killed.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.set(self.get().wrapping_add(more));
    }

    /// Subtracts one, but not below zero.
    pub(crate) fn take_one(&self) {
        self.set(self.get().saturating_sub(1));
    }
}
