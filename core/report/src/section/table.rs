//! [`Table`]: rows of values below headings in the terms of each format.

use super::page_text::PageText;
use super::value::Value;

/// Where the terminal shows a column, on which not all of them have room.
#[derive(Clone, Copy)]
pub(crate) enum Terminal {
    /// Nowhere.
    Nowhere,
    /// Below this heading, in this number of columns of the terminal.
    Column(&'static str, usize),
    /// In brackets after the name of the row.
    AfterName,
}

/// The headings of a column, and how it is shown.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    /// The heading in Markdown; empty for a column that Markdown does not have.
    pub(crate) plain: &'static str,
    /// The heading on a page.
    pub(crate) page: PageText,
    pub(crate) terminal: Terminal,
    /// Whether the column has numbers.
    pub(crate) is_number: bool,
    /// Whether the column is left out if all its counts are zero.
    unless_zero: bool,
    /// On a page, the columns from this one on are another table with this title.
    pub(crate) begins: Option<PageText>,
}

/// A column of a table of `T`: its headings, and its value for one of them.
pub(crate) struct Column<T> {
    head: Head,
    value: fn(&T) -> Value,
}

impl<T> Column<T> {
    /// A column of text with its heading in Markdown and on a page.
    pub(crate) const fn text(plain: &'static str, page: PageText, value: fn(&T) -> Value) -> Self {
        let terminal = Terminal::Nowhere;
        let head = Head { plain, page, terminal, is_number: false, unless_zero: false, begins: None };
        Self { head, value }
    }

    /// A column of numbers with its heading in Markdown and on a page.
    pub(crate) const fn number(plain: &'static str, page: PageText, value: fn(&T) -> Value) -> Self {
        let mut column = Self::text(plain, page, value);
        column.head.is_number = true;
        column
    }

    /// The same column, also on a terminal, below `heading` and `columns` wide.
    pub(crate) const fn narrow(mut self, heading: &'static str, columns: usize) -> Self {
        self.head.terminal = Terminal::Column(heading, columns);
        self
    }

    /// The same column, on a terminal in brackets after the name.
    pub(crate) const fn after_name(mut self) -> Self {
        self.head.terminal = Terminal::AfterName;
        self
    }

    /// The same column, left out if nothing of the kind happened.
    pub(crate) const fn unless_zero(mut self) -> Self {
        self.head.unless_zero = true;
        self
    }

    /// The same column, with which another table called `title` begins on a page.
    pub(crate) const fn begins(mut self, title: PageText) -> Self {
        self.head.begins = Some(title);
        self
    }
}

/// A row: a value for each column.
pub(crate) struct Row {
    pub(crate) values: Vec<Value>,
    /// Whether a terminal leaves it out.
    pub(crate) is_wide_only: bool,
    /// Sentences that a terminal shows below the row.
    pub(crate) below: Vec<String>,
}

/// A table. The first column names its rows. A column without any content is left out.
#[derive(Default)]
pub(crate) struct Table {
    /// The name of the table, next to the headings of a terminal.
    pub(crate) label: &'static str,
    pub(crate) heads: Vec<Head>,
    pub(crate) rows: Vec<Row>,
    /// Width of the names on a terminal, if they are labels as in other lines.
    pub(crate) label_columns: Option<usize>,
    /// Most rows on a terminal, and the field of the JSON format that has all of them.
    pub(crate) terminal_rows: (usize, &'static str),
}

impl Table {
    /// A table with a row for each of `items`.
    pub(crate) fn new<'a, T: 'a>(
        label: &'static str,
        columns: &[Column<T>],
        items: impl IntoIterator<Item = &'a T>,
    ) -> Self {
        let values = |item: &T| columns.iter().map(|column| (column.value)(item)).collect();
        let row = |item| Row { values: values(item), is_wide_only: false, below: Vec::new() };
        let rows: Vec<Row> = items.into_iter().map(row).collect();
        let heads: Vec<Head> = columns.iter().map(|column| column.head).collect();
        let is_zero = |place: usize| rows.iter().all(|row: &Row| row.values[place].is_zero());
        let zeros: Vec<usize> =
            (0..heads.len()).filter(|place| heads[*place].unless_zero && is_zero(*place)).collect();
        let table = Self { label, heads, rows, label_columns: None, terminal_rows: (usize::MAX, "") };
        zeros.into_iter().fold(table, Self::without)
    }

    /// The same table with nothing in the column at `place`.
    pub(crate) fn without(mut self, place: usize) -> Self {
        self.rows.iter_mut().for_each(|row| row.values[place] = Value::Nothing);
        self
    }

    /// The same table; without rows unless `is_shown`.
    pub(crate) fn if_any(mut self, is_shown: bool) -> Self {
        self.rows.truncate(if is_shown { usize::MAX } else { 0 });
        self
    }

    /// The same table with at most `rows` rows on a terminal, which then refers to `field` of the
    /// JSON format.
    pub(crate) const fn terminal_rows(mut self, rows: usize, field: &'static str) -> Self {
        self.terminal_rows = (rows, field);
        self
    }
}
