//! Text from outside as Markdown: shown unchanged, and never as markup.

use wavetank_units::is_control_char;

use crate::format;

/// Characters with a meaning in Markdown at any position.
const MARKUP: &[char] = &['\\', '`', '*', '_', '{', '}', '[', ']', '<', '>', '|', '~', '&', '^'];
/// Characters from which GitHub, not Markdown, makes links, mentions or formulas, even if they are
/// escaped. Only code is safe.
const CODE_ONLY: &[char] = &['@', '#', '$'];

/// Formats a sentence. Text between back-quotes, and terms that GitHub would turn into something
/// else, become code; all other markup is escaped.
pub(crate) fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Text after an unclosed back-quote is not code.
    if parts.len().is_multiple_of(2) {
        return prose(text, true);
    }
    let (mut written, mut gap) = (String::new(), false);
    for (number, part) in parts.into_iter().enumerate() {
        let is_code = number % 2 == 1;
        let shown = match is_code {
            true if part.trim().is_empty() => "\\`\\`".to_owned(),
            true => code(part),
            false => prose(part, written.is_empty()),
        };
        gap |= !is_code && part.starts_with(char::is_whitespace);
        // Two codes without a gap would be read as one.
        gap |= written.ends_with('`') && shown.starts_with(['`', '\\']);
        if gap && !written.is_empty() && !shown.is_empty() {
            written.push(' ');
        }
        gap = !is_code && part.ends_with(char::is_whitespace) || gap && shown.is_empty();
        written.push_str(&shown);
    }
    written
}

/// Text without code of its own; `first` if it starts a line.
fn prose(text: &str, first: bool) -> String {
    let words = text.split(char::is_whitespace).filter(|word| !word.is_empty());
    words.enumerate().map(|(number, text)| word(text, first && number == 0)).collect::<Vec<_>>().join(" ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_between_back_quotes_is_code() {
        let check = |text: &str, shown: &str| assert_eq!(sentence(text), shown, "{text}");
        check("raise `--threads 4`, or ask for `less`", "raise `--threads 4`, or ask for `less`");
        check("threads (`--threads`)", "threads (`--threads`)");
        check("`failed < 1%` broke: 2 %", "`failed < 1%` broke: 2 %");
        check("`a|b`  and\n`c`", "`a`&#124;`b` and `c`");
        check("`a``b` `c`@d", "`a` `b` `c` `@d`");
        check("an empty `` one", "an empty \\`\\` one");
        check("one ` alone <b>", "one \\` alone \\<b\\>");
        check("- `a` - *b*", "\\- `a` - \\*b\\*");
        check("", "");
    }
}
