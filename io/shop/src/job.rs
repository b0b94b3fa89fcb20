//! [`Job`]: a request of a server thread to the database, and [`Done`]: its outcome.

use wavetank_driver::ConnId;

use crate::sale_snapshot::Sale;

/// A job for the database, and the connection that it is for.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) conn: ConnId,
    /// Distinguishes the jobs of one thread.
    pub(crate) ticket: u32,
    pub(crate) task: Task,
}

/// The task of a job.
#[derive(Debug)]
pub(crate) enum Task {
    /// Sells one article; the request came at `at_ms` of Unix time.
    Order { sku: Box<str>, user: Box<str>, at_ms: i64 },
    /// Starts a sale, in place of the current one.
    NewSale { stock: u64, opens_at_ms: i64 },
    /// Looks up the rows of a shelf. Any number is valid.
    Query { shelf: u64 },
    /// Moves money between two accounts. Any number is valid.
    Transfer { pair: u64 },
}

/// The outcome of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) conn: ConnId,
    pub(crate) ticket: u32,
    pub(crate) outcome: Outcome,
}

/// How the job ended. Changes are committed before their outcome is returned.
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
    /// The database returned an error.
    Failed,
}
