//! Text from outside as Markdown: shown unchanged, and never as markup.

use wavetank_units::is_control_char;

use crate::format;

/// Characters with a meaning in Markdown at any position.
const MARKUP: &[char] = &['\\', '`', '*', '_', '{', '}', '[', ']', '<', '>', '|', '~', '&', '^'];
/// Characters from which GitHub, not Markdown, makes links, mentions or formulas, even if they are
/// escaped. Only code is safe.
const CODE_ONLY: &[char] = &['@', '#', '$'];

/// Formats a sentence. Terms that GitHub would turn into something else become code; all other
/// markup is escaped.
pub(crate) fn sentence(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace()).filter(|word| !word.is_empty());
    words.enumerate().map(|(number, text)| word(text, number == 0)).collect::<Vec<_>>().join(" ")
}

fn word(text: &str, first: bool) -> String {
    let lower = text.to_ascii_lowercase();
    let linked = lower.contains("://")
        || lower.contains("www.")
        || lower.contains("mailto:")
        || lower.contains("xmpp:");
    if linked || text.contains(CODE_ONLY) {
        return code(text);
    }
    let text = harmless(text);
    // At the start of a line these would start a list, or underline a heading.
    let numbered = text.strip_suffix(['.', ')']).is_some_and(is_number);
    let mut escaped = String::new();
    for (at, letter) in text.char_indices() {
        let leading = at == 0 && "+-=".contains(letter) || numbered && ".)".contains(letter);
        if MARKUP.contains(&letter) || first && leading {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Text that is taken literally: names, conditions, commands. Safe inside a table, too.
pub(crate) fn code(text: &str) -> String {
    let text = harmless(text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return String::new();
    }
    // A table reads `\|` as a bar everywhere, but other text does not. Outside of code an entity
    // works in both.
    if text.contains('|') {
        let parts: Vec<_> = text.split('|').map(code).collect();
        return parts.join("&#124;");
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

/// A block of lines taken literally.
pub(super) fn block(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(harmless).collect();
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

/// Replaces control characters and characters that change the writing direction.
fn harmless(text: &str) -> String {
    // White space becomes a single blank when the terms are joined again.
    let steers = |letter: char| is_control_char(letter) && !letter.is_whitespace();
    text.chars().map(|letter| if steers(letter) { '\u{fffd}' } else { letter }).collect()
}

/// A name from outside, taken literally; a very long one is cut to its start and its end.
pub(crate) fn name(name: &str) -> String {
    code(&format::cut(name))
}

/// One table. The last `numbers` columns are numbers, those before them text. Empty without rows.
pub(crate) fn table(headings: &[&str], numbers: usize, rows: &[Vec<String>]) -> String {
    let texts = headings.len() - numbers;
    let heads = headings.iter().enumerate().map(|(at, heading)| (*heading, at >= texts));
    aligned_table(&heads.collect::<Vec<_>>(), rows)
}

/// One table below headings, each with whether its column has numbers. Empty without rows.
pub(crate) fn aligned_table(heads: &[(&str, bool)], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let headings: Vec<_> = heads.iter().map(|(heading, _)| (*heading).to_owned()).collect();
    let rule: Vec<_> =
        heads.iter().map(|&(_, number)| if number { "---:" } else { "---" }.to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(&headings) + &line(&rule) + &rows
}

/// Returns `table` with the number of further rows.
pub(crate) fn left_out(table: String, more: usize) -> String {
    if more == 0 { table } else { format!("{table}\n{more} more are in `--format json`\n") }
}
