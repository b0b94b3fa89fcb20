//! Data files: bytes of CSV or JSON lines to a [`Table`], and which row whom falls to.

mod csv_rows;
mod json_rows;
mod remark;
mod row_selection;
mod source;
mod table;
mod text;

pub use remark::DataNote;
pub use row_selection::{row, row_choice};
pub use source::{RowsConfig, RowsFormat};
pub use table::{Table, TableBuilder};
