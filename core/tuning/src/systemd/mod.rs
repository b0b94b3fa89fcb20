//! Units of systemd and their drop-ins.

mod lint;
mod other_rules;
mod parse;

pub(crate) use lint::lint;
pub use parse::{UnitLine, parse_unit};
