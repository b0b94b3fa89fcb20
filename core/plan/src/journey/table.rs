//! [`Table`]: rows of text in compact form.

use serde::{Deserialize, Serialize};
use wavetank_units::{Code, UserError};

use super::value::{JsonType, ValueRef};

/// Maximum number of columns of a table.
const COLUMNS_MAX: usize = 1000;

/// Named columns and their cells, row by row. All text is in one buffer, with 4 additional bytes
/// per cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "TableParts")]
pub struct Table {
    columns: Box<[Box<str>]>,
    text: Box<str>,
    ends: Box<[u32]>,
    /// One for each cell; empty if all cells are text.
    kinds: Box<[JsonType]>,
}

impl Table {
    /// Returns the column names in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|name| &**name)
    }

    /// Returns the index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns().position(|column| column == name)
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u32 {
        (self.ends.len() / self.columns.len().max(1)) as u32
    }

    /// Returns a cell of a row, or `None` outside of the table.
    pub fn cell(&self, row: u32, column: usize) -> Option<ValueRef<'_>> {
        if column >= self.columns.len() {
            return None;
        }
        let at = row as usize * self.columns.len() + column;
        let end = *self.ends.get(at)?;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let kind = self.kinds.get(at).copied().unwrap_or_default();
        Some(ValueRef { kind, text: &self.text.as_bytes()[start as usize..end as usize] })
    }

    /// Returns the memory used, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<u32>() + self.kinds.len() * size_of::<JsonType>()
    }
}

/// What is read of a table before it is checked; the fields are those of [`Table`].
#[derive(Deserialize)]
struct TableParts {
    columns: Box<[Box<str>]>,
    text: Box<str>,
    ends: Box<[u32]>,
    kinds: Box<[JsonType]>,
}

impl TryFrom<TableParts> for Table {
    type Error = &'static str;

    fn try_from(parts: TableParts) -> Result<Self, Self::Error> {
        let TableParts { columns, text, ends, kinds } = parts;
        if columns.is_empty() || columns.len() > COLUMNS_MAX || !ends.len().is_multiple_of(columns.len()) {
            return Err("a table has columns, and a cell for each of them in each row");
        }
        if !ends.is_sorted() || ends.last().map_or(0, |end| *end as usize) != text.len() {
            return Err("the cells of a table are its whole text, one after the other");
        }
        if !kinds.is_empty() && kinds.len() != ends.len() {
            return Err("all cells of a table have a type, or none");
        }
        Ok(Self { columns, text, ends, kinds })
    }
}

/// Builds a table from the rows of a file, or from rows written in the experiment.
#[derive(Clone, Debug)]
pub struct TableBuilder {
    name: String,
    columns: Vec<Box<str>>,
    text: String,
    ends: Vec<u32>,
    kinds: Vec<JsonType>,
}

impl TableBuilder {
    /// Creates a table with these columns, which need unique names. `name` is the file or variable,
    /// for messages.
    pub fn new(name: &str, columns: &[&str]) -> Result<Self, UserError> {
        let refuse = |message: String, hint: &str| Err(UserError::usage(Code::DataColumns, message, hint));
        if columns.is_empty() || columns.len() > COLUMNS_MAX {
            let message = format!("{name} has {} columns; 1 to {COLUMNS_MAX} are allowed", columns.len());
            return refuse(message, "check the separator");
        }
        for (at, column) in columns.iter().enumerate() {
            if column.is_empty() {
                let message = format!("column {} of {name} has no name", at + 1);
                return refuse(
                    message,
                    "if there is no header line, name the columns: `columns: [user, password]`",
                );
            }
            if columns[..at].contains(column) {
                let message = format!("{name} has two columns named `{column}`");
                return refuse(
                    message,
                    "if there is no header line, name the columns: `columns: [user, password]`",
                );
            }
        }
        Ok(Self {
            name: name.to_owned(),
            columns: columns.iter().map(|column| (*column).into()).collect(),
            text: String::new(),
            ends: Vec::new(),
            kinds: Vec::new(),
        })
    }

    /// Returns the column names in order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|name| &**name)
    }

    /// Adds the next cell, row by row in the order of the columns.
    pub fn push(&mut self, kind: JsonType, text: &str) -> Result<(), UserError> {
        self.text.push_str(text);
        let Ok(end) = u32::try_from(self.text.len()) else {
            let message = format!("{} contains more than 4 GiB of text", self.name);
            return Err(UserError::usage(
                Code::DataSize,
                message,
                "use fewer rows, or only the columns needed",
            ));
        };
        if kind != JsonType::Text && self.kinds.is_empty() {
            self.kinds.resize(self.ends.len(), JsonType::Text);
        }
        if kind != JsonType::Text || !self.kinds.is_empty() {
            self.kinds.push(kind);
        }
        self.ends.push(end);
        Ok(())
    }

    /// Returns the table. A table without rows and an incomplete row are errors.
    pub fn finish(self) -> Result<Table, UserError> {
        if self.ends.is_empty() {
            let message = format!("{} has no rows", self.name);
            let hint = "add a row below the header line; if there is no header line, name the columns: \
                        `columns: [user, password]`";
            return Err(UserError::usage(Code::DataEmpty, message, hint));
        }
        if !self.ends.len().is_multiple_of(self.columns.len()) {
            let message = format!("the last row of {} has too few values", self.name);
            return Err(UserError::usage(Code::DataRow, message, "give each row a value for each column"));
        }
        Ok(Table {
            columns: self.columns.into(),
            text: self.text.into(),
            ends: self.ends.into(),
            kinds: self.kinds.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_text_and_kind() {
        let mut builder = TableBuilder::new("t", &["a", "b"]).expect("columns are named");
        let cells =
            [(JsonType::Text, "x"), (JsonType::Text, ""), (JsonType::Number, "1"), (JsonType::Text, "y")];
        for (kind, text) in cells {
            builder.push(kind, text).expect("is short");
        }
        let table = builder.finish().expect("is full");
        assert_eq!((table.rows(), table.column("b"), table.column("c")), (2, Some(1), None));
        for (at, (kind, text)) in cells.into_iter().enumerate() {
            let found = table.cell(at as u32 / 2, at % 2);
            assert_eq!(found, Some(ValueRef { kind, text: text.as_bytes() }), "{at}");
        }
        assert_eq!((table.cell(2, 0), table.cell(0, 2)), (None, None));
    }

    #[test]
    fn tables_that_make_no_sense_are_refused() {
        let check = |columns: &[&str], code, words: &str| {
            let error = TableBuilder::new("t", columns).expect_err(words);
            assert_eq!(error.code, code);
            assert!(error.message.contains(words), "{error}");
        };
        check(&[], "data_columns", "0 columns");
        check(&["a", ""], "data_columns", "column 2 of t has no name");
        check(&["a", "b", "a"], "data_columns", "two columns named `a`");
        let mut builder = TableBuilder::new("t", &["a", "b"]).expect("columns are named");
        assert_eq!(builder.clone().finish().expect_err("no rows").code, "data_empty");
        builder.push(JsonType::Text, "x").expect("is short");
        assert_eq!(builder.finish().expect_err("half a row").code, "data_row");
    }
}
