//! [`TextLayout`]: labelled lines, wrapped.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use wavetank_units::is_control_char;

/// Most columns of a line.
pub(crate) const COLUMNS_MAX: usize = 100;
/// Columns of the label.
pub(crate) const LABEL_COLUMNS: usize = 11;

/// Text under construction: each line has a label on the left, as in `measured   12,400
/// requests/s`.
pub(crate) struct TextLayout {
    text: String,
    columns: usize,
}

impl Default for TextLayout {
    fn default() -> Self {
        Self::with_width(COLUMNS_MAX)
    }
}

impl TextLayout {
    /// Lines of at most `columns` columns, which leave room for the label.
    pub(crate) fn with_width(columns: usize) -> Self {
        Self { text: String::new(), columns: columns.max(2 * LABEL_COLUMNS) }
    }

    /// Everything so far.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    /// One line as it is, but for what would steer a terminal: names and answers come from outside.
    pub(crate) fn line(&mut self, line: &str) {
        let harmless = |letter: char| if is_control_char(letter) { '\u{fffd}' } else { letter };
        self.text.extend(line.trim_end().chars().map(harmless));
        self.text.push('\n');
    }

    /// Adds `label` and `parts` joined by ` · `, broken between parts, or at white space in a part
    /// that is too long. Adds no line if there are no parts.
    pub(crate) fn parts(&mut self, label: &str, parts: &[impl AsRef<str>]) {
        self.labelled(label, &joined(parts, self.columns - LABEL_COLUMNS));
    }

    /// Adds `label`, `word` in a column of its own, and `parts` next to it.
    pub(crate) fn column_entry(&mut self, label: &str, word: &str, columns: usize, parts: &[String]) {
        let room = self.columns.saturating_sub(LABEL_COLUMNS + columns + 2).max(LABEL_COLUMNS);
        let word = cut(word, columns);
        for (number, line) in joined(parts, room).iter().enumerate() {
            let (label, word) = if number == 0 { (label, word.as_str()) } else { ("", "") };
            self.labelled(label, &[format!("{}  {line}", pad(word, columns))]);
        }
    }

    /// `label` and one sentence, wrapped.
    pub(crate) fn sentence(&mut self, label: &str, sentence: &str) {
        self.parts(label, &[sentence.to_owned()]);
    }

    /// Adds `lines` with `label` next to the first of them.
    pub(crate) fn labelled(&mut self, label: &str, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            let label = if number == 0 { label } else { "" };
            self.line(&format!("{} {line}", pad(label, LABEL_COLUMNS - 1)));
        }
    }

    /// Adds `label`, `word` in a column of its own, and a sentence wrapped next to it.
    pub(crate) fn entry(&mut self, label: &str, word: &str, columns: usize, sentence: &str) {
        let lines = wrapped(sentence, self.columns - LABEL_COLUMNS - columns - 1);
        for (number, line) in lines.iter().enumerate() {
            let (label, word) = if number == 0 { (label, word) } else { ("", "") };
            self.labelled(label, &[format!("{} {line}", pad(word, columns))]);
        }
    }

    /// Adds `word`, two blanks and `sentence`, and the first of `rights` that fits at the right end
    /// of the line. If none fits, it is below.
    pub(crate) fn head(&mut self, word: &str, sentence: &str, rights: &[String]) {
        let indent = width(word) + 2;
        let mut lines = wrapped(sentence, self.columns.saturating_sub(indent).max(LABEL_COLUMNS));
        let gap = |right: &String| self.columns.saturating_sub(indent + width(&lines[0]) + width(right));
        let fitting = rights.iter().find(|right| lines.len() == 1 && gap(right) >= 2);
        match (fitting, rights.first()) {
            (Some(right), _) => lines[0] = format!("{}{}{right}", lines[0], " ".repeat(gap(right))),
            (None, Some(right)) => lines.push(right.clone()),
            (None, None) => {}
        }
        for (number, line) in lines.iter().enumerate() {
            self.line(&format!("{}  {line}", pad(if number == 0 { word } else { "" }, indent - 2)));
        }
    }
}

/// `parts` joined by ` · ` in lines of at most `columns`.
fn joined(parts: &[impl AsRef<str>], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().map(AsRef::as_ref).filter(|part| !part.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(part) <= columns => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.extend(wrapped(part, columns)),
        }
    }
    lines
}

/// Columns of `text` on a terminal: two for a Chinese letter, none for a combining accent.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `columns`, its end cut off where it is longer.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let end = fitting(text, columns.saturating_sub(1));
    text[..end].chars().chain(['…']).collect()
}

/// Bytes of `text` that fit into `columns`, whole letters.
fn fitting(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    let beyond = text.char_indices().find(|(_, letter)| {
        taken += letter.width().unwrap_or(0);
        taken > columns
    });
    beyond.map_or(text.len(), |(at, _)| at)
}

/// `text` with blanks after it up to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// `text` with blanks before it up to `columns`.
pub(crate) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Wraps `text` into lines of at most `columns`, broken at white space, or anywhere in a word that
/// is longer.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        for (number, piece) in pieces(word, columns).enumerate() {
            let line = lines.last_mut().expect("there is always a line");
            if line.is_empty() {
                piece.clone_into(line);
            } else if number == 0 && width(line) + 1 + width(piece) <= columns {
                line.push(' ');
                line.push_str(piece);
            } else {
                lines.push(piece.to_owned());
            }
        }
    }
    lines
}

/// `word` in pieces of at most `columns`, but a letter at least.
fn pieces(word: &str, columns: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?.len_utf8();
        let end = if rest.len() <= columns { rest.len() } else { fitting(rest, columns).max(first) };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[&str], expected: &[&str]) {
        let mut page = TextLayout::default();
        page.parts("label", &parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>());
        let text = page.into_text();
        assert!(text.lines().all(|line| width(line) <= COLUMNS_MAX), "{text}");
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_break_between_parts_first() {
        check(&[], &[]);
        check(&["", ""], &[]);
        check(&["a", "", "b"], &["label      a · b"]);
        check(&["a\u{1b}[2J", "\u{202e}b"], &["label      a\u{fffd}[2J · \u{fffd}b"]);
        let long = "x".repeat(60);
        check(&[&long, &long], &[&format!("label      {long}"), &format!("           {long}")]);
        check(&["a\u{202e}b\u{1b}[2J\u{200b}"], &["label      a\u{fffd}b\u{fffd}[2J\u{fffd}"]);
        let words = format!("{long} {long}");
        check(&[&words], &[&format!("label      {long}"), &format!("           {long}")]);
        check(
            &[&"y".repeat(100)],
            &[&format!("label      {}", "y".repeat(89)), &format!("           {}", "y".repeat(11))],
        );
    }

    #[test]
    fn wide_letters_take_two_columns() {
        check(&[&"网".repeat(45)], &[&format!("label      {}", "网".repeat(44)), "           网"]);
        let accent = "e\u{301}".repeat(60);
        check(&[&accent], &[&format!("label      {accent}")]);
        let cut_to =
            |text: &str, columns: usize, shown: &str| assert_eq!(cut(text, columns), shown, "{text}");
        cut_to("网上商店", 8, "网上商店");
        cut_to("网上商店", 7, "网上商…");
        cut_to("网上商店", 6, "网上…");
        cut_to("a网", 2, "a…");
        cut_to("shop", 4, "shop");
        cut_to("shops", 4, "sho…");
        cut_to("shops", 0, "…");
    }

    #[test]
    fn the_head_keeps_its_sentence_and_places_the_rest() {
        let rights = ["shop · run 7f3a · 10 s".to_owned(), "run 7f3a".to_owned()];
        let head = |sentence: &str| {
            let mut page = TextLayout::default();
            page.head("PASS", sentence, &rights);
            page.into_text()
        };
        assert_eq!(head("fine"), format!("PASS  fine{}shop · run 7f3a · 10 s\n", " ".repeat(68)));
        assert_eq!(head(&"x".repeat(80)), format!("PASS  {}      run 7f3a\n", "x".repeat(80)));
        assert_eq!(
            head(&"x".repeat(90)),
            format!("PASS  {}\n      shop · run 7f3a · 10 s\n", "x".repeat(90))
        );
        let long = head(&"word ".repeat(30));
        assert_eq!((long.lines().count(), long.matches("word").count()), (3, 30));
        assert!(long.lines().all(|line| width(line) <= COLUMNS_MAX));
    }
}
