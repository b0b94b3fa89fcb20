//! [`knee_markdown`]: a search for pull requests and wikis.

use std::fmt::Write;

use wavetank_record::SearchDoc;

use super::failed_runs::unheld;
use super::format::limit;
use super::observed_levels::ObservedLevels;
use super::text::{HEADINGS, cells, search_cost_text, unheld_line};
use crate::export::{code, sentence};

/// The answer as a heading, then the levels as a table. Text from outside is escaped.
pub fn knee_markdown(doc: &SearchDoc) -> String {
    let mut text = format!("## {}\n\n", sentence(&doc.answer.headline));
    if let Some(limit) = limit(doc) {
        let _ = writeln!(text, "- limit: {}", sentence(&limit));
    }
    let _ = writeln!(text, "- target: {}\n- search: {}", code(&doc.target), search_cost_text(doc));
    for note in &doc.notes {
        let _ = writeln!(text, "- note: {}", sentence(note));
    }
    let _ = writeln!(text, "\n| {} | {} |", doc.of, HEADINGS.join(" | "));
    let _ = writeln!(text, "|--:{}|:--|", "|--:".repeat(HEADINGS.len() - 1));
    let showed = ObservedLevels::from_search(doc);
    for point in &doc.curve {
        let row: Vec<_> = cells(doc, &showed, point).iter().map(|cell| sentence(cell)).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    let lines = unheld(doc);
    if !lines.is_empty() {
        text.push_str("\nRuns that contradict others or do not count:\n\n");
        for one in &lines {
            let _ = writeln!(text, "- {}", sentence(&unheld_line(doc, one)));
        }
    }
    text
}
