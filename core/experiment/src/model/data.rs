//! [`DataSource`]: rows of data.

use super::Value;
use crate::{Span, Spanned};

/// An entry under `data`.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// Its name in templates.
    pub name: String,
    /// Position of the name.
    pub place: Span,
    /// Which row a session takes.
    pub row: RowOrder,
    /// The rows.
    pub content: DataContent,
}

/// Where the rows are.
#[derive(Clone, Debug, PartialEq)]
pub enum DataContent {
    /// In a file.
    File(DataFile),
    /// In the experiment: as many values in each row as there are columns.
    Rows {
        /// Names of the columns.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<Value>>,
    },
}

/// A file of rows.
#[derive(Clone, Debug, PartialEq)]
pub struct DataFile {
    /// Its name, from the experiment's folder.
    pub file: Spanned<String>,
    /// Names of the columns; empty: the header line has them.
    pub columns: Vec<String>,
    /// Between columns.
    pub separator: Option<char>,
    /// Of its text, as the WHATWG's standard labels it.
    pub encoding: Option<String>,
}

/// Which row a session takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// One after the other, from the top again at the end.
    #[default]
    InOrder,
    /// Any.
    Random,
    /// Each once in the whole run.
    Unique,
    /// Each user keeps its own.
    PerUser,
}
