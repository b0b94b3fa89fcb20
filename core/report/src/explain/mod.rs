//! Explanations of every code and every term of a result: its meaning, its cause and what to do.
//! `wavetank explain CODE` and `docs/codes.md` come from one table.
//!
//! The texts are files of blocks (`words/*.txt`), one file for each group, because they are read
//! and edited as prose. A test searches the sources for every code that is shown to users. It fails
//! if a code has no block here, or a block no code.

mod explanation;
mod group;
mod look_up;
mod page;

pub use explanation::{Explanation, explanations};
pub use group::CodeGroup;
pub use look_up::explain;
pub use page::{codes_page, explain_doc, explain_list, explain_text};
