//! [`Gauge`]: the number of open connections over all threads, with its maximum and minimum.

use std::sync::atomic::{AtomicI64, Ordering};

/// Connections open over all threads, with their maximum and minimum since the last reset.
///
/// The sum of the threads' own numbers would show the current number, but not its extremes, since
/// those of the threads fall on different instants. So this gauge is shared. It costs a write to a
/// shared cache line for each connection opened or closed, which is little compared with accepting
/// or closing it. Requests cost nothing.
///
/// The maximum is updated when a connection closes, and the minimum when one opens: between those
/// instants neither can change. A connection that turns out to ask for `/truth` is subtracted again
/// without an update, so that reading the counts does not change them.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    open: AtomicI64,
    most: AtomicI64,
    fewest: AtomicI64,
}

impl Gauge {
    /// Adds an open connection.
    pub(super) fn opened(&self) {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        // This is rarely a new extreme, and then the cache line of the extremes is not written.
        if before < self.fewest.load(Ordering::Relaxed) {
            self.fewest.fetch_min(before, Ordering::Relaxed);
        }
    }

    /// Subtracts `count` closed connections.
    pub(super) fn closed(&self, count: i64) {
        let before = self.open.fetch_sub(count, Ordering::Relaxed);
        if before > self.most.load(Ordering::Relaxed) {
            self.most.fetch_max(before, Ordering::Relaxed);
        }
    }

    /// Subtracts a connection that was added and is not to be counted.
    pub(super) fn take_back(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the maximum since the last reset.
    pub(crate) fn most(&self) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        u64::try_from(open.max(self.most.load(Ordering::Relaxed))).unwrap_or(0)
    }

    /// Returns the minimum since the last reset.
    pub(crate) fn fewest(&self) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        u64::try_from(open.min(self.fewest.load(Ordering::Relaxed))).unwrap_or(0)
    }

    /// Sets the maximum and the minimum to the current number.
    pub(crate) fn reset(&self) {
        let open = self.open.load(Ordering::Relaxed);
        self.most.store(open, Ordering::Relaxed);
        self.fewest.store(open, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens and closes connections as in `moves`, and checks the maximum and minimum; `t` is a
    /// connection that asks for `/truth`.
    fn check(moves: &str, most: u64, fewest: u64) {
        let gauge = Gauge::default();
        for step in moves.chars() {
            match step {
                '+' => gauge.opened(),
                '-' => gauge.closed(1),
                't' => {
                    gauge.opened();
                    gauge.take_back();
                }
                _ => gauge.reset(),
            }
        }
        assert_eq!((gauge.most(), gauge.fewest()), (most, fewest), "{moves}");
    }

    #[test]
    fn shows_the_most_and_the_fewest() {
        check("", 0, 0);
        check("+++", 3, 0);
        check("+++--", 3, 0);
        check("+++r", 3, 3);
        check("+++r-++", 4, 2);
        check("+++r+--+", 4, 2);
        check("+++--r", 1, 1);
    }

    #[test]
    fn who_asks_for_the_truth_is_in_neither() {
        check("t", 0, 0);
        check("+++rttt", 3, 3);
        check("+++rt-t+t", 3, 2);
    }
}
