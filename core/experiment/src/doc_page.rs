//! [`page`]: the grammar as a page for readers, `docs/experiment.md`.

use std::fmt::Write as _;

use wavetank_grammar::Grammar as _;
use wavetank_grammar::markdown_docs::{heading, section, table};

use crate::grammar::{FORMS, MapName};

/// Returns the page as Markdown.
pub fn page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    for room in MapName::ALL {
        if matches!(room, MapName::Choice | MapName::MultipartFile | MapName::SoapCall | MapName::Event) {
            continue;
        }
        section(&mut out, room.section());
        if *room == MapName::Scenario {
            steps(&mut out);
        }
    }
    section(&mut out, MapName::Event.section());
    out.push('\n');
    out.push_str(include_str!("page_tail.md"));
    out
}

fn steps(out: &mut String) {
    heading(out, "Steps", "A step is a map with exactly one verb; the other keys belong to it.");
    for form in FORMS {
        writeln!(out, "### {}\n\n{}\n", form.title, form.about).expect("text takes everything");
        table(out, form.verbs);
        if !form.keys.is_empty() {
            out.push_str("\nOptional keys:\n\n");
            table(out, form.keys);
        }
        out.push('\n');
        for room in [MapName::MultipartFile, MapName::SoapCall, MapName::Choice] {
            if form.verbs.iter().chain(form.keys).any(|key| key.kind.contains_map(room)) {
                writeln!(out, "{}\n", room.section().about).expect("text takes everything");
                table(out, room.section().keys);
                out.push('\n');
            }
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
}
