//! Finding values in answers: the grammar's `FROM`, compiled before the run.
//!
//! An [`Extractor`] is made from text such as `json $.sku` and gives its errors then. In the run it reads an [`ResponseView`]
//! and appends what it finds to [`Values`](crate::value::Values); what must be parsed for that (a JSON tree, a page) is
//! kept in a [`ParseCache`] until the next answer, so that five extractions parse once. JSON paths of names and indices
//! alone, the usual case, are found by walking over the bytes and parse nothing.

mod answer;
mod css;
mod extractor;
mod json;
mod json_scan;
mod parse_cache;
mod pattern;

pub use answer::ResponseView;
pub use extractor::Extractor;
pub use json_scan::json_items;
pub use parse_cache::{ExtractError, ParseCache};
pub use pattern::Pattern;
