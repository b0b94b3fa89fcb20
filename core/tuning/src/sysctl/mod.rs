//! Files of sysctl: `sysctl.conf` and `sysctl.d/*.conf`.

mod lint;
mod more_rules;
mod parse;

pub(crate) use lint::lint;
pub use parse::{SysctlLine, parse_sysctl};
