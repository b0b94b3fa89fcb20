//! What every code and every word of a result means, why it comes about and what to do: `wavetank explain CODE`,
//! and `docs/codes.md`, from one table.
//!
//! The texts are files of blocks (`words/*.txt`), one file a group, because they are read and mended as prose. A test
//! searches the sources for every code that is told to a user and fails where one has no block here, or a block no code.

mod explanation;
mod group;
mod look_up;
mod page;

pub use explanation::{Explanation, explanations};
pub use group::CodeGroup;
pub use look_up::explain;
pub use page::{codes_page, explain_doc, explain_list, explain_text};
