//! [`DataPlan`]: rows that sessions take values from.

use serde::{Deserialize, Serialize};

/// Rows of a file, or rows written in the experiment. The rows themselves are passed along with the
/// plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPlan {
    /// Its name in templates.
    pub name: String,
    /// The file as named; `None`: written out.
    pub file: Option<String>,
    /// Which row a session gets.
    pub row: RowChoice,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// How many rows.
    pub rows: u64,
    /// The hash of all values, so that two runs with different data have different plans.
    pub sha256: String,
}

/// Which row a session gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RowChoice {
    /// The session's number, and from the first row again.
    #[default]
    InOrder,
    /// Any, from the seed.
    Random,
    /// Each row once in the whole run.
    Unique,
    /// The user's number: all sessions of a user have the same.
    PerUser,
}
