//! Quantities as users write and read them. Each one has a unit; `m` is minutes, `M` is million.
//!
//! Parsing is exact: decimals become integers or fractions without passing through floating point.
//! Every error contains the text and the expected form.

mod count;
mod decimal;
mod duration;
mod format;
mod link;
mod rate;
mod share;
mod size;
mod whole;

pub use count::{parse_count, parse_count_positive};
pub use duration::{parse_duration, parse_duration_positive};
pub use format::format_sizes_distinct;
pub use format::{share_literal, show_link, show_rate, show_request_rate, show_share, show_size, trimmed};
pub use link::parse_link;
pub use rate::{parse_rate, parse_rate_positive};
pub use share::parse_share;
pub use size::parse_size;
pub use whole::{format_compact, format_grouped, show_clock};
