//! `limits.conf` and `limits.d/*.conf` (limits.conf(5)).

mod lint;
mod parse;

pub(crate) use lint::lint;
pub use parse::{LimitLine, LimitType, parse_limits};
