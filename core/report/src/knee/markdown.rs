//! [`knee_markdown`]: a search for pull requests and wikis.

use std::fmt::Write;

use wavetank_record::SearchDoc;

use super::text::{HEADINGS, cells, effort};
use super::words::limit;

/// The answer as a heading, then the levels as a table.
pub fn knee_markdown(doc: &SearchDoc) -> String {
    let mut text = format!("## {}\n\n", escaped(&doc.answer.headline));
    if let Some(limit) = limit(doc) {
        let _ = writeln!(text, "- limit: {}", escaped(&limit));
    }
    let _ = writeln!(text, "- target: {}\n- search: {}", escaped(&doc.target), effort(doc));
    for note in &doc.notes {
        let _ = writeln!(text, "- note: {}", escaped(note));
    }
    let _ = writeln!(text, "\n| {} | {} |", doc.of, HEADINGS.join(" | "));
    let _ = writeln!(text, "|--:{}|:--|", "|--:".repeat(HEADINGS.len() - 1));
    for point in &doc.curve {
        let row: Vec<_> = cells(doc, point).iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

/// Names and thresholds come from outside: nothing in them may open a table, a tag or a link.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => {
                safe.push('\\');
                safe.push(letter);
            }
            plain => safe.push(plain),
        }
    }
    safe
}
