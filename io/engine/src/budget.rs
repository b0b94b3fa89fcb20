//! [`Budget`]: the part of a counted limit that one load thread owns.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_pace::CountedLimit;

/// A total (`-n`, `max_open`) split exactly over threads.
///
/// Each thread has its own share. When that is used up, it borrows batches from one common
/// remainder. The limit is reached only when both are empty.
pub(crate) struct Budget {
    left: u64,
    /// When more than this is unused, a batch goes back to the remainder.
    keep_max: u64,
    remainder: Arc<AtomicU64>,
    parts: u64,
}

impl Budget {
    /// Splits `total` into `parts` budgets.
    pub(crate) fn split(total: u64, parts: u64) -> Vec<Self> {
        let remainder = Self::remainder(total, parts);
        (0..parts).map(|part| Self::part(total, parts, part, Arc::clone(&remainder))).collect()
    }

    /// Returns the remainder of `total` that `parts` budgets have in common.
    pub(crate) fn remainder(total: u64, parts: u64) -> Arc<AtomicU64> {
        Arc::new(AtomicU64::new(CountedLimit::split(total, parts).1))
    }

    /// Returns one of the `parts` budgets of `total`, with their common `remainder`.
    pub(crate) fn part(total: u64, parts: u64, part: u64, remainder: Arc<AtomicU64>) -> Self {
        let left = CountedLimit::split(total, parts).0[part as usize];
        Self { left, keep_max: left + CountedLimit::batch(total, parts), remainder, parts }
    }

    /// Takes one unit, if the limit is not reached.
    #[inline]
    pub(crate) fn take(&mut self) -> bool {
        if self.left == 0 && !self.borrow() {
            return false;
        }
        self.left -= 1;
        true
    }

    /// Returns one unit, for limits on what is in flight at one time.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        self.left += 1;
        if self.left > self.keep_max {
            let surplus = self.left - self.keep_max / 2;
            self.left -= surplus;
            self.remainder.fetch_add(surplus, Ordering::Relaxed);
        }
    }

    #[cold]
    fn borrow(&mut self) -> bool {
        let mut seen = self.remainder.load(Ordering::Relaxed);
        while seen > 0 {
            let wanted = CountedLimit::batch(seen, self.parts).clamp(1, seen);
            match self.remainder.compare_exchange_weak(
                seen,
                seen - wanted,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => {
                    self.left += wanted;
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(total: u64, parts: u64) {
        let mut budgets = Budget::split(total, parts);
        // One thread may use up everything that is not part of another thread's own share. The
        // others can then take the rest.
        let taken: u64 = budgets
            .iter_mut()
            .map(|budget| std::iter::from_fn(|| budget.take().then_some(())).count() as u64)
            .sum();
        assert_eq!(taken, total, "{total} over {parts}");
        for budget in &mut budgets {
            for _ in 0..total / parts {
                budget.give_back();
            }
        }
        let again: u64 = budgets
            .iter_mut()
            .map(|budget| std::iter::from_fn(|| budget.take().then_some(())).count() as u64)
            .sum();
        assert_eq!(again, total / parts * parts, "given back: {total} over {parts}");
    }

    #[test]
    fn nothing_is_lost_or_made() {
        for (total, parts) in [(0, 1), (1, 1), (1, 7), (10, 3), (1_000, 2), (1_000_003, 7)] {
            check(total, parts);
        }
    }
}
