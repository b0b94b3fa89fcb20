//! [`DataSource`]: rows of data.

use wavetank_grammar::{Span, Spanned};

use super::Value;

/// An entry under `data`.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSource {
    /// Its name in templates.
    pub name: String,
    /// Position of the name.
    pub place: Span,
    /// Which row a session uses.
    pub row: RowOrder,
    /// The rows.
    pub content: DataContent,
}

/// The location of the rows.
#[derive(Clone, Debug, PartialEq)]
pub enum DataContent {
    /// In a file.
    File(DataFile),
    /// In the experiment. Each row has one value for each column.
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
    /// The file's name, relative to the experiment's folder.
    pub file: Spanned<String>,
    /// Names of the columns; empty if the header line has them.
    pub columns: Vec<String>,
    /// The separator between columns.
    pub separator: Option<char>,
    /// The text encoding, a label of the WHATWG standard.
    pub encoding: Option<String>,
}

/// Which row a session uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// One after another, and again from the first after the last.
    #[default]
    InOrder,
    /// A random row.
    Random,
    /// Each once in the whole run.
    Unique,
    /// Each user keeps its own.
    PerUser,
}
