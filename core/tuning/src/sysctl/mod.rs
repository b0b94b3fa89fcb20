//! Files of sysctl: `sysctl.conf` and `sysctl.d/*.conf`.

mod file_rules;
mod lint;
mod parse;

pub(crate) use lint::lint;
pub use parse::{SysctlLine, parse_sysctl};
