//! What the files that people write have in common, whatever they are about.
//!
//! Bytes become a tree whose keys and values have places ([`text_of`], [`parse_yaml`]). A kind of file is a table of its
//! keys, [`Grammar`]: maps with fixed keys are read by it ([`Keys`]), [`schema()`] makes a JSON Schema for editors of it,
//! and [`page`] the tables of its page. What a value may say is read by a [`TreeReader`], and what is wrong is collected
//! in [`Diagnostics`], each remark with its place and a hint, and told by [`render()`].

mod advice;
mod diagnostic;
mod foreign;
mod grammar;
mod keys;
mod kind;
mod node;
pub mod page;
mod place;
mod quotes;
mod render;
mod schema;
mod section;
pub mod shape;
mod tree_reader;
mod words;
mod yaml;

pub use advice::Advice;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use foreign::{Foreign, foreign, foreign_in_tree};
pub use grammar::{Grammar, OwnKind, homes_among};
pub use keys::Keys;
pub use kind::Kind;
pub use node::{Entry, Node, NodeKind, Scalar};
pub use place::{At, Place};
pub use quotes::outside;
pub use render::{render, render_one};
pub use schema::{object, schema};
pub use section::{Key, Section, key, must};
pub use tree_reader::TreeReader;
pub use words::meant;
pub use yaml::{parse as parse_yaml, text_of};
