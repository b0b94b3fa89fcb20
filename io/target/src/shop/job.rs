//! [`Job`]: what a thread of the server wants of the database, and [`Done`]: what came of it.

use wavetank_driver::ConnId;

use super::sale_snapshot::Sale;

/// Something to do, and for whom.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) conn: ConnId,
    /// Tells requests of one thread apart.
    pub(crate) ticket: u32,
    pub(crate) task: Task,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Task {
    /// Sell one article; the request came at `at_ms` of Unix time.
    Order { sku: Box<str>, user: Box<str>, at_ms: i64 },
    /// Begin a sale, in place of the one there is.
    NewSale { stock: u64, opens_at_ms: i64 },
    /// Look up the rows of a shelf; any number names one.
    Query { shelf: u64 },
    /// Move money between two accounts; any number names them.
    Transfer { pair: u64 },
}

/// What came of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) conn: ConnId,
    pub(crate) ticket: u32,
    pub(crate) outcome: Outcome,
}

/// How it ended. What changed something was committed before it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Sold {
        order: i64,
        left: u64,
    },
    SoldOut,
    BoughtBefore,
    TooEarly {
        opens_at_ms: i64,
    },
    NotOnSale,
    Begun(Sale),
    Found {
        rows: i64,
        total: i64,
    },
    Transferred {
        transfer: i64,
    },
    /// The database refused, for reasons of its own.
    Failed,
}
