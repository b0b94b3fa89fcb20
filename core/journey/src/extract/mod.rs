//! Extraction of values from responses: the grammar's `FROM`, compiled before the run.
//!
//! An [`Extractor`] is made from text such as `json $.sku`, which is checked at that time. During
//! the run it reads a [`ResponseView`] and appends the matches to [`Values`](crate::value::Values).
//! A [`ParseCache`] keeps the parsed JSON tree or page until the next response, so that five
//! extractions parse once. JSON paths of names and indices alone, the usual case, are found by
//! scanning the bytes and parse nothing.

mod answer;
mod body_text;
mod css;
mod error;
mod extractor;
mod json;
mod json_scan;
mod page_cache;
mod parse_cache;
mod pattern;

pub use answer::ResponseView;
pub use error::ExtractError;
pub use extractor::Extractor;
pub use json_scan::json_items;
pub(crate) use page_cache::PageCache;
pub use page_cache::RESOURCES_MAX;
pub use parse_cache::ParseCache;
pub use pattern::Pattern;
