//! [`SaleSnapshot`]: the sale as it stands after the last commit, for all threads to read without waiting.
//!
//! One thread writes, a thread of this process that nobody kills alone; so readers that look again while it writes
//! do so for as long as its few stores take, or until it has its CPU back.

use std::hint;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

/// The sale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sale {
    /// Counts the sales; each has an article of its own.
    pub(crate) number: u64,
    /// How many there are to be sold.
    pub(crate) stock: u64,
    /// How many are.
    pub(crate) sold: u64,
    /// When it opens, in milliseconds of Unix time.
    pub(crate) opens_at_ms: i64,
}

impl Sale {
    /// The article's number, by which it is ordered.
    pub(crate) fn sku(&self) -> String {
        format!("P{:04}", self.number)
    }
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct SaleSnapshot {
    /// Odd while the rest is being written.
    version: AtomicU64,
    number: AtomicU64,
    stock: AtomicU64,
    sold: AtomicU64,
    opens_at_ms: AtomicI64,
}

impl SaleSnapshot {
    /// With a sale on it.
    pub(crate) fn new(sale: Sale) -> Self {
        Self {
            version: AtomicU64::new(0),
            number: AtomicU64::new(sale.number),
            stock: AtomicU64::new(sale.stock),
            sold: AtomicU64::new(sale.sold),
            opens_at_ms: AtomicI64::new(sale.opens_at_ms),
        }
    }

    /// The sale as it stands.
    pub(crate) fn read(&self) -> Sale {
        loop {
            let version = self.version.load(Ordering::Acquire);
            let sale = Sale {
                number: self.number.load(Ordering::Relaxed),
                stock: self.stock.load(Ordering::Relaxed),
                sold: self.sold.load(Ordering::Relaxed),
                opens_at_ms: self.opens_at_ms.load(Ordering::Relaxed),
            };
            fence(Ordering::Acquire);
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                return sale;
            }
            hint::spin_loop();
        }
    }

    /// Put this sale on it; for one thread alone.
    pub(crate) fn write(&self, sale: Sale) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.number.store(sale.number, Ordering::Relaxed);
        self.stock.store(sale.stock, Ordering::Relaxed);
        self.sold.store(sale.sold, Ordering::Relaxed);
        self.opens_at_ms.store(sale.opens_at_ms, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_never_read_half_written() {
        let sale = |n: u64| Sale { number: n, stock: 2 * n, sold: 3 * n, opens_at_ms: 4 * n as i64 };
        let board = SaleSnapshot::new(sale(0));
        std::thread::scope(|scope| {
            let readers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let mut last = 0;
                        while last < 20_000 {
                            let read = board.read();
                            assert_eq!(read, sale(read.number));
                            assert!(read.number >= last, "back to {} from {last}", read.number);
                            last = read.number;
                        }
                    })
                })
                .collect();
            (1..=20_000).for_each(|n| board.write(sale(n)));
            for reader in readers {
                reader.join().expect("no panic");
            }
        });
    }
}
