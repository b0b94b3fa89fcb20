//! The experiment file: text in, an [`Experiment`] and remarks about it out.
//!
//! [`parse`] takes the file's bytes, the variables set on the command line, and functions that know the
//! environment and the secrets' names; it opens nothing itself. All mistakes are told at once, each with its
//! place and a hint. What is read keeps the user's names; whoever makes a plan of it turns them into numbers.

mod doc_page;
mod explicit_settings;
mod grammar;
mod input;
mod lower;
mod model;
mod other_formats;
mod overrides;
mod parse;
mod rehearsal;
mod schema;
mod search_level;
mod starter;
mod validate;
mod walk;

pub use doc_page::page;
pub use input::{ParseInput, Parsed, read};
pub use lower::{LowerContext, LowerError, LoweredPlan, lower, rows_table};
pub use model::*;
pub use rehearsal::Factor;
pub use schema::schema;
pub use search_level::Level;
pub use starter::starter;
pub use validate::{DataFacts, verify_data};

use wavetank_grammar::{Diagnostic, Diagnostics, Entry, Node, NodeKind, Scalar, Span, Spanned};
