//! [`SaleSnapshot`]: the state of the sale after the last commit, for all threads to read without
//! waiting.
//!
//! The only writer is a thread of this process, which cannot be killed separately. So readers that
//! retry during a write do so only for its few stores, or until the writer gets its CPU back.

use std::hint;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};

/// The state of a sale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sale {
    /// Number of the sale. Each sale has a separate article.
    pub(crate) number: u64,
    /// Number of articles for sale.
    pub(crate) stock: u64,
    /// Number of sold articles.
    pub(crate) sold: u64,
    /// When it opens, in milliseconds of Unix time.
    pub(crate) opens_at_ms: i64,
}

impl Sale {
    /// Returns the article number, which orders contain.
    pub(crate) fn sku(&self) -> String {
        format!("P{:04}", self.number)
    }
}

/// See the module's description.
#[derive(Debug)]
pub(crate) struct SaleSnapshot {
    /// Odd while the other fields are being written.
    version: AtomicU64,
    number: AtomicU64,
    stock: AtomicU64,
    sold: AtomicU64,
    opens_at_ms: AtomicI64,
}

impl SaleSnapshot {
    /// Creates a snapshot of `sale`.
    pub(crate) fn new(sale: Sale) -> Self {
        Self {
            version: AtomicU64::new(0),
            number: AtomicU64::new(sale.number),
            stock: AtomicU64::new(sale.stock),
            sold: AtomicU64::new(sale.sold),
            opens_at_ms: AtomicI64::new(sale.opens_at_ms),
        }
    }

    /// Returns the current sale.
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

    /// Publishes `sale`. Only one thread may call this.
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
