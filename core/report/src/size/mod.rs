//! `wavetank size`: what a load takes, as an object and as text.
//!
//! [`size_doc`] puts together what was reckoned; [`size_text`] is a function of the object alone.

mod doc;
mod text;

pub use doc::{SizingInput, size_doc};
pub use text::size_text;
