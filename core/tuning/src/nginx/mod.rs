//! Configuration of nginx.

mod directive;
mod facts;
mod http_rules;
mod lexer;
mod lint;
mod names;
mod parse;
mod proxy_rules;
mod read;
mod value;
mod value_rules;

pub use directive::{Argument, Directive};
pub(crate) use lint::{lint, listen_ports};
pub(crate) use parse::parse;
pub(crate) use read::read;
pub use read::{IncludedFile, Includes};
