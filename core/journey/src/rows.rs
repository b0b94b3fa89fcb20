//! Data files: bytes of CSV or JSON lines to a [`Table`], and which row whom falls to.

mod choice;
mod csv_rows;
mod json_rows;
mod remark;
mod source;
mod table;
mod text;

pub use choice::{row, row_choice};
pub use remark::Remark;
pub use source::{RowsFormat, RowsSource};
pub use table::{Table, TableBuilder};
