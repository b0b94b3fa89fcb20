//! [`page`]: the grammar as a page for readers, `docs/lab-file.md`.

use wavetank_grammar::Grammar as _;
use wavetank_grammar::markdown_docs::section;

use crate::grammar::MapName;

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    for room in MapName::ALL {
        section(&mut out, room.section());
    }
    out.push('\n');
    out.push_str(include_str!("page_tail.md"));
    out
}
