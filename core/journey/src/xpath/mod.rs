//! XPath 1.0 over XML and pages: `xml //item[@sku]/price`.
//!
//! It is written here because no library fits: `sxd-xpath` has had no maintainer since 2022 and
//! recurses once for every level of a document; `xee` brings XPath 3.1, its own regular expressions
//! and a clock; others support only a part of the language. The language of 1999 is small. It is
//! complete except for variables, `id()`, `lang()`, the namespace axis and declarations of
//! namespaces. Names are compared with their prefixes, as the document writes them: `//soap:Body`
//! finds elements written `soap:Body`, and `//Body` finds those without a prefix, regardless of
//! their default namespace.
//!
//! Work is counted: an expression that would search the document again and again ends with
//! [`ExtractError::TooMuchWork`](crate::extract::ExtractError).

mod axis;
mod eval;
mod expr;
mod function;
mod functions;
mod number;
mod parse;
mod query;
mod token;
mod tree;
mod tree_from;

pub use query::XPath;
pub use tree::Tree;
