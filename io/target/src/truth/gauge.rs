//! [`Gauge`]: how many connections are open over all threads, and the most and the fewest there have been.

use std::sync::atomic::{AtomicI64, Ordering};

/// Connections open over all threads, with their most and their fewest since the last reset.
///
/// The sum of the threads' own numbers would tell what is open now, but not what was: their extremes fall on
/// different instants. So this one is shared. It costs a write to a shared cache line for each connection that comes or
/// goes, which is little beside accepting or closing it, and nothing for a request.
///
/// The most is looked at when a connection goes and the fewest when one comes: between those instants neither can
/// have moved. A connection that turns out to ask for the truth, and is no client, is taken out again
/// without a look, so that asking does not raise what it asks for.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    open: AtomicI64,
    most: AtomicI64,
    fewest: AtomicI64,
}

impl Gauge {
    /// One more.
    pub(super) fn opened(&self) {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        // Most of the time it is no new extreme, and the line of those stays with whoever reads it.
        if before < self.fewest.load(Ordering::Relaxed) {
            self.fewest.fetch_min(before, Ordering::Relaxed);
        }
    }

    /// So many fewer.
    pub(super) fn closed(&self, count: i64) {
        let before = self.open.fetch_sub(count, Ordering::Relaxed);
        if before > self.most.load(Ordering::Relaxed) {
            self.most.fetch_max(before, Ordering::Relaxed);
        }
    }

    /// One that was taken in was none to be counted.
    pub(super) fn take_back(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// The most since the last reset.
    pub(crate) fn most(&self) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        u64::try_from(open.max(self.most.load(Ordering::Relaxed))).unwrap_or(0)
    }

    /// The fewest since the last reset.
    pub(crate) fn fewest(&self) -> u64 {
        let open = self.open.load(Ordering::Relaxed);
        u64::try_from(open.min(self.fewest.load(Ordering::Relaxed))).unwrap_or(0)
    }

    /// What is open now is the most and the fewest.
    pub(crate) fn reset(&self) {
        let open = self.open.load(Ordering::Relaxed);
        self.most.store(open, Ordering::Relaxed);
        self.fewest.store(open, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections come and go as `moves` says, `t` being one that asked for the truth; the most and the fewest.
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
    fn tells_the_most_and_the_fewest() {
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
