//! [`page`]: the grammar as a page for people, `docs/lab-file.md`.

use wavetank_grammar::page::section;

use crate::grammar::{Grammar as _, Room};

/// The page, as Markdown.
pub fn page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    for room in Room::ALL {
        section(&mut out, room.section());
    }
    out.push('\n');
    out.push_str(include_str!("page_tail.md"));
    out
}
