//! Common parts of the file formats that users write, independent of their subject.
//!
//! Bytes become a tree of keys and values with their places ([`text_of`], [`parse_yaml`]). A kind
//! of file is described by a table of its keys, [`Grammar`]. [`MapReader`] uses it to read maps
//! with fixed keys, [`schema()`] makes a JSON Schema for editors of it, and [`markdown_docs`] the
//! tables of its documentation page. A [`TreeReader`] reads the values. Mistakes are collected in
//! [`Diagnostics`], each with its place and a hint, and printed by [`render()`].

mod diagnostic;
mod error_hints;
mod grammar;
pub mod json_schema_values;
mod map_reader;
pub mod markdown_docs;
mod node;
mod other_formats;
mod quotes;
mod render;
mod schema;
mod section;
mod span;
mod suggestions;
mod tree_reader;
mod yaml;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use error_hints::ErrorHints;
pub use grammar::{CustomKind, Grammar, maps_with_key};
pub use map_reader::MapReader;
pub use node::{Entry, Node, NodeKind, Scalar};
pub use other_formats::{FormatSignature, detect_format, foreign};
pub use quotes::unquoted_chars;
pub use render::{render, render_one};
pub use schema::{object, schema};
pub use section::{KeySchema, MapSchema, ValueKind, key, required};
pub use span::{Span, Spanned};
pub use suggestions::suggest_key;
pub use tree_reader::TreeReader;
pub use yaml::{parse as parse_yaml, text_of};
