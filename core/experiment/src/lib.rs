//! The experiment file: text in, an [`Experiment`] and remarks about it out.
//!
//! [`read`] takes the file's bytes, the variables set on the command line, and functions that know the
//! environment and the secrets' names; it opens nothing itself. All mistakes are told at once, each with its
//! place and a hint. What is read keeps the user's names; whoever makes a plan of it turns them into numbers.

mod amend;
mod at_level;
mod diagnostic;
mod foreign;
mod given;
mod grammar;
mod input;
mod lower;
mod model;
mod node;
mod page;
mod place;
mod read;
mod rehearse;
mod render;
mod schema;
mod starter;
mod verify;
mod walk;
mod yaml;

pub use at_level::Level;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use input::{Input, Reading, read};
pub use lower::{Lowered, Lowering, Unfit, lower, rows_table};
pub use model::*;
pub use node::{Entry, Node, NodeKind, Scalar};
pub use page::page;
pub use place::{At, Place};
pub use rehearse::Factor;
pub use render::{render, render_one};
pub use schema::schema;
pub use starter::starter;
pub use verify::{RowFacts, verify_data};
pub use yaml::{parse as parse_yaml, text_of};
