//! `wavetank size`: the hosts that a load needs, as an object and as text.
//!
//! [`size_doc`] collects the computed values; [`size_text`] is a function of the object alone.

mod doc;
mod text;

pub use doc::{SizingInput, size_doc};
pub use text::size_text;
