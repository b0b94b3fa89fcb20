//! The experiment file: text in, an [`Experiment`] and remarks about it out.
//!
//! [`read`] takes the file's bytes, the variables set on the command line, and functions that know the
//! environment and the secrets' names; it opens nothing itself. All mistakes are told at once, each with its
//! place and a hint. What is read keeps the user's names; whoever makes a plan of it turns them into numbers.

mod amend;
mod at_level;
mod foreign;
mod given;
mod grammar;
mod input;
mod lower;
mod model;
mod page;
mod read;
mod rehearse;
mod schema;
mod starter;
mod verify;
mod walk;

pub use at_level::Level;
pub use input::{Input, Reading, read};
pub use lower::{Lowered, Lowering, Unfit, lower, rows_table};
pub use model::*;
pub use page::page;
pub use rehearse::Factor;
pub use schema::schema;
pub use starter::starter;
pub use verify::{RowFacts, verify_data};

use wavetank_grammar::{At, Diagnostic, Diagnostics, Entry, Node, NodeKind, Place, Scalar};
