//! Configuration of `HAProxy`.

mod facts;
mod global_rules;
mod lint;
mod names;
mod parse;
mod proxy_rules;
mod time;
mod whole_file;

pub(crate) use lint::{bind_ports, lint};
pub use parse::{HaproxyLine, parse_haproxy};
