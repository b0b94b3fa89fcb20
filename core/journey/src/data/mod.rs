//! Data files: reads CSV or JSON lines into a [`Table`], and selects the row of a session.

mod csv_quotes;
mod csv_rows;
mod json_rows;
mod read;
mod remark;
mod row_selection;
mod source;
mod text;

pub use remark::DataNote;
pub use row_selection::{row, row_choice};
pub use source::{RowsConfig, RowsFormat};
pub use wavetank_plan::{Table, TableBuilder};
