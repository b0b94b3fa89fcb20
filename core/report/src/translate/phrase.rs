//! [`SentencePattern`]: a sentence with holes, in both languages.

use super::value::is_value;

/// The kinds of text that a placeholder accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceholderKind {
    /// Any text, shown unchanged: `{name}`.
    Any,
    /// A number with its units: `{name#}`.
    Value,
    /// Text that has a phrase of its own: `{name*}`.
    Phrase,
    /// Names with commas between them: `{name,}`.
    List,
}

/// A stretch of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternPart {
    Text(&'static str),
    Hole(&'static str, PlaceholderKind),
}

/// A sentence with holes, in both languages.
#[derive(Clone, Debug)]
pub(super) struct SentencePattern {
    english: Vec<PatternPart>,
    /// Its holes are those of the English one, in an order of its own.
    chinese: Vec<PatternPart>,
}

impl SentencePattern {
    pub(super) fn new(english: &'static str, chinese: &'static str) -> Self {
        Self { english: parts(english), chinese: parts(chinese) }
    }

    /// Returns the texts in the placeholders if `sentence` matches the pattern. A placeholder ends
    /// at the first occurrence of the text after it, so matching takes linear time whatever the
    /// sentence contains.
    pub(super) fn read<'a>(
        &self,
        sentence: &'a str,
    ) -> Option<Vec<(&'static str, PlaceholderKind, &'a str)>> {
        let (mut rest, mut found) = (sentence, Vec::new());
        let mut parts = self.english.iter().peekable();
        while let Some(part) = parts.next() {
            let (name, fill) = match part {
                PatternPart::Text(text) => {
                    rest = rest.strip_prefix(text)?;
                    continue;
                }
                PatternPart::Hole(name, fill) => (*name, *fill),
            };
            let text = match parts.next() {
                Some(PatternPart::Text(text)) => *text,
                _ => "",
            };
            let end = match parts.peek() {
                Some(_) => {
                    let second = rest.char_indices().nth(1)?.0;
                    second + rest[second..].find(text)?
                }
                None => rest.strip_suffix(text)?.len(),
            };
            let value = &rest[..end];
            if value.is_empty() || fill == PlaceholderKind::Value && !is_value(value) {
                return None;
            }
            found.push((name, fill, value));
            rest = &rest[end + text.len()..];
        }
        rest.is_empty().then_some(found)
    }

    /// Its Chinese form.
    pub(super) fn chinese(&self) -> &[PatternPart] {
        &self.chinese
    }

    /// Names of holes that only one of both forms has.
    #[cfg(test)]
    pub(super) fn unmatched(&self) -> Vec<&'static str> {
        let names = |parts: &[PatternPart]| -> Vec<&'static str> {
            let name = |part: &PatternPart| match part {
                PatternPart::Hole(name, _) => Some(*name),
                PatternPart::Text(_) => None,
            };
            parts.iter().filter_map(name).collect()
        };
        let (english, chinese) = (names(&self.english), names(&self.chinese));
        english
            .iter()
            .filter(|name| !chinese.contains(name))
            .chain(chinese.iter().filter(|name| !english.contains(name)))
            .copied()
            .collect()
    }
}

/// Splits `pattern` into parts. Two placeholders are never adjacent, so each ends at a text or at
/// the end.
fn parts(pattern: &'static str) -> Vec<PatternPart> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        if !before.is_empty() {
            parts.push(PatternPart::Text(before));
        }
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let fills =
            [('#', PlaceholderKind::Value), ('*', PlaceholderKind::Phrase), (',', PlaceholderKind::List)];
        let of = |(sign, fill)| Some((name.strip_suffix(sign)?, fill));
        let (name, fill) = fills.into_iter().find_map(of).unwrap_or((name, PlaceholderKind::Any));
        parts.push(PatternPart::Hole(name, fill));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(PatternPart::Text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &'static str, sentence: &str, expected: Option<&[&str]>) {
        let phrase = SentencePattern::new(pattern, "");
        let found = phrase.read(sentence);
        let values = found.map(|found| found.iter().map(|(.., value)| *value).collect::<Vec<_>>());
        assert_eq!(values.as_deref(), expected, "{pattern}: {sentence}");
    }

    #[test]
    fn a_sentence_is_read_into_its_holes() {
        check("stopped by hand", "stopped by hand", Some(&[]));
        check("stopped by hand", "stopped by hands", None);
        check(
            "`{a}` broke: {b} at {c} s",
            "`p99 < 5ms` broke: 7 ms at 12 s",
            Some(&["p99 < 5ms", "7 ms", "12"]),
        );
        check("`{a}` broke: {b} at {c} s", "`p99 < 5ms` broke: 7 ms", None);
        check("{n#} of {all#} failed", "7 of 9 failed", Some(&["7", "9"]));
        check("{n#} of {all#} failed", "all of 9 failed", None);
        check("lost: {what*}", "lost: ", None);
        check("{a} of {b}", " of x", None);
        check("{a} of {b}", "x of ", None);
        check("{a} 的 {b}", "é 的 ü", Some(&["é", "ü"]));
    }
}
