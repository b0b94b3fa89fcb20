//! Configuration of `HAProxy`.

mod facts;
mod global_rules;
mod lint;
mod parse;
mod proxy_rules;
mod time;

pub(crate) use lint::{bind_ports, lint};
pub use parse::{HaproxyLine, parse_haproxy};
