//! Comparison of two sides of runs, as text and tables. Pure functions of the stored comparison.

mod headline;
mod html;
mod html_charts;
mod html_page;
mod junit;
mod markdown;
mod sample_size;
mod side_time_series;
mod strings;
mod text;
mod values;

pub use html::comparison_html;
pub use html_page::CompareSource;
pub use junit::comparison_junit;
pub(crate) use junit::comparison_suite;
pub use markdown::comparison_markdown;
pub use side_time_series::SideTimeSeries;
pub use text::comparison_text;
