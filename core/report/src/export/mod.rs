//! A run for other programs to read: CSV, Markdown, and `HdrHistogram`'s own two formats.
//!
//! CSV and the interval log are written stretch by stretch, as the archive is read: a day of seconds does not fit into
//! memory. Whoever reads may go away in the middle, which ends the writing and is nobody's failure.

mod csv_cells;
mod csv_columns;
mod csv_export;
mod host_rows;
mod interval_log;
mod latency_series;
mod markdown;
mod markdown_hosts;
mod markdown_text;
mod percentile_text;

pub use csv_export::CsvExport;
pub use host_rows::HostRows;
pub use interval_log::IntervalLog;
pub use latency_series::{LatencySeries, StepSelector};
pub use markdown::markdown;
pub(crate) use markdown_text::{code, sentence, table};
pub use percentile_text::percentile_text;
