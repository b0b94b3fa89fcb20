//! A run for other programs to read: CSV, Markdown, and `HdrHistogram`'s own two formats.
//!
//! CSV and the interval log are written interval by interval while the archive is read, because a
//! day of seconds does not fit into memory. The reader may close the pipe in the middle; this ends
//! the writing and is not an error.

mod csv_cells;
mod csv_columns;
mod csv_export;
mod host_rows;
mod interval_log;
mod latency_series;
mod markdown;
mod markdown_text;
mod percentile_text;

pub use csv_export::CsvExport;
pub use host_rows::HostRows;
pub use interval_log::IntervalLog;
pub use latency_series::{LatencySeries, StepSelector};
pub use markdown::markdown;
pub(crate) use markdown_text::{aligned_table, code, left_out, name, sentence, table};
pub use percentile_text::percentile_text;
