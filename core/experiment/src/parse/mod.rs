//! Converts the tree to the parsed form: every key, verb and rule. It reports all errors, not only
//! the first.
//!
//! Each part has a module. A parser function returns `None` after it has reported why.

mod body;
mod check;
mod data;
mod events;
mod experiment;
mod expression;
mod grpc;
mod http;
mod message;
mod names;
mod parser;
mod path;
mod phase;
mod phase_rules;
mod proxy;
mod quantity;
mod request;
mod scenario;
mod span;
mod step;
mod subject;
mod target;
mod tcp;
mod template;
mod text;
mod think;
mod udp;
mod value;
mod variables;
mod vars;

pub(crate) use check::OPERATORS;
pub(crate) use experiment::read_experiment;
pub(crate) use names::is_identifier;
pub(crate) use parser::Parser;
pub(crate) use path::normal_path;
pub(crate) use variables::Variables;
pub(crate) use wavetank_grammar::{TreeReader, unquoted_chars};

use crate::grammar::MapName;

/// A map with fixed keys of an experiment.
pub(crate) type Keys<'n> = wavetank_grammar::MapReader<'n, MapName>;
