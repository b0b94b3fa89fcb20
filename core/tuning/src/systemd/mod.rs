//! Units of systemd and their drop-ins.

mod lint;
mod parse;
mod service_rules;

pub(crate) use lint::lint;
pub use parse::{UnitLine, parse_unit};
