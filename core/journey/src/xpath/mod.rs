//! XPath 1.0 over XML and pages: `xml //item[@sku]/price`.
//!
//! Written here because no library fits: `sxd-xpath` has had no maintainer since 2022 and calls itself for every level
//! of a document; `xee` brings XPath 3.1, its own regular expressions and a clock; the others know a part of the
//! language. The language of 1999 is small. It is complete but for variables, `id()`, `lang()`, the namespace axis
//! and declarations of namespaces: names, with their prefixes, are compared as the document writes them, so
//! `//soap:Body` finds what is written `soap:Body`, and `//Body` what has no prefix whatever its default namespace.
//!
//! Work is counted: an expression that would walk over the document again and again ends with
//! [`ExtractError::TooMuchWork`](crate::extract::ExtractError).

mod axis;
mod eval;
mod expr;
mod functions;
mod number;
mod parse;
mod query;
mod token;
mod tree;
mod tree_from;

pub use query::XPath;
pub use tree::Tree;
