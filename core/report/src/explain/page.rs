//! Explanations as text, as a JSON document, and as `docs/codes.md`.

use std::fmt::Write as _;

use wavetank_record::{CodeDoc, EXPLAIN_SCHEMA, ExplainDoc};

use super::{CodeGroup, Explanation, explanations};
use crate::text_layout::{TextLayout, wrapped};

/// Explanations one below the other, as a person reads them.
pub fn explain_text(found: &[Explanation]) -> String {
    let mut page = TextLayout::default();
    for (number, one) in found.iter().enumerate() {
        if number > 0 {
            page.line("");
        }
        let also = if one.also.is_empty() { String::new() } else { format!(" ({})", one.also) };
        page.line(&format!("{}{also}: {}", one.code, one.group.one()));
        for (label, said) in [("means", one.means), ("why", one.why), ("do", one.act), ("see", one.see)] {
            if !said.is_empty() {
                page.sentence(label, said);
            }
        }
    }
    page.into_text()
}

/// All codes by group, and how to look one up.
pub fn explain_list() -> String {
    let mut out = String::new();
    let all = explanations();
    for group in CodeGroup::ALL {
        let own = all.iter().filter(|one| one.group == group);
        // Readers know a verdict by its name rather than by its number. Synonyms of other codes
        // would only distract.
        let verdict = |one: &Explanation| group == CodeGroup::Exits && !one.also.is_empty();
        let codes: Vec<String> = own
            .map(|one| if verdict(one) { format!("{}/{}", one.code, one.also) } else { one.code.to_owned() })
            .collect();
        writeln!(out, "{}", group.title()).expect("text takes everything");
        for line in wrapped(&codes.join(" "), crate::text_layout::COLUMNS_MAX - 2) {
            writeln!(out, "  {line}").expect("text takes everything");
        }
    }
    out.push_str("\nwavetank explain CODE describes a code: its meaning, its causes and what to do.\n");
    out
}

/// Explanations for programs.
pub fn explain_doc(found: &[Explanation]) -> ExplainDoc {
    let code = |one: &Explanation| CodeDoc {
        code: one.code.to_owned(),
        also: one.also.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        group: one.group.name().to_owned(),
        means: one.means.to_owned(),
        why: one.why.to_owned(),
        act: one.act.to_owned(),
        see: one.see.to_owned(),
    };
    ExplainDoc { schema: EXPLAIN_SCHEMA.to_owned(), codes: found.iter().map(code).collect() }
}

/// `docs/codes.md`.
pub fn codes_page() -> String {
    let mut out = include_str!("page_head.md").to_owned();
    let all = explanations();
    for group in CodeGroup::ALL {
        let title = group.title();
        writeln!(out, "\n## {title}\n\n| code | means | why, and what to do |\n|---|---|---|")
            .expect("text takes everything");
        for one in all.iter().filter(|one| one.group == group) {
            let names = std::iter::once(one.code).chain(one.also.split(", ").filter(|name| !name.is_empty()));
            let names = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let why = if one.why.is_empty() { String::new() } else { format!("Why: {}. ", ended(one.why)) };
            let act = if one.act.is_empty() { String::new() } else { format!("Do: {}.", ended(one.act)) };
            let row = format!("| {names} | {} | {} |", cell(one.means), cell(&(why + &act)));
            writeln!(out, "{}", row.replace("  ", " ")).expect("text takes everything");
        }
    }
    out
}

fn ended(text: &str) -> &str {
    text.trim_end_matches('.')
}

/// Escapes text that would end the cell or be taken for HTML.
fn cell(text: &str) -> String {
    text.trim().replace('|', "\\|").replace('<', "&lt;")
}
