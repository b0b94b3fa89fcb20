//! Single values: texts, names, words of a closed set. No variables: a lab is one file, and `$` is the programs' own.

use wavetank_experiment::{At, Entry, Node, NodeKind, Place};
use wavetank_plan::did_you_mean;

use super::Reader;

impl Reader<'_> {
    /// The text of a single value. `what` says what is wanted: "a duration".
    pub(crate) fn text(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        match &node.kind {
            NodeKind::Scalar(_) if node.is_null() => {
                let message = format!("{what} is missing here");
                self.fail("value_missing", node.place, message, "write one, or leave the key out")
            }
            NodeKind::Scalar(scalar) => Some(At::new(scalar.text.clone(), node.place)),
            NodeKind::Map(_) | NodeKind::List(_) => {
                let message = format!("{what} is a single value, and this is {}", node.what());
                let hint = "text with a colon, or with brackets at its beginning, stands in quotes";
                self.fail("not_a_value", node.place, message, hint)
            }
        }
    }

    /// A text that stands for itself: nothing that a program's argument or environment cannot hold.
    pub(crate) fn clean_text(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        let text = self.text(node, what)?;
        if text.value.contains('\0') {
            return self.fail(
                "lab_value",
                text.place,
                format!("{what} has a zero byte in it"),
                "leave it out",
            );
        }
        Some(text)
    }

    /// One of a closed set of words.
    pub(crate) fn one_of<T: Copy>(&mut self, node: &Node, what: &str, words: &[(&str, T)]) -> Option<T> {
        let word = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(known, _)| *known == word.value) {
            return Some(*value);
        }
        let known = || words.iter().map(|(known, _)| *known);
        let hint = match did_you_mean(&word.value, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("one of: {}", known().collect::<Vec<_>>().join(", ")),
        };
        self.fail("word_unknown", word.place, format!("`{}` is no {what}", word.value), hint)
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self, node: &Node) -> Option<bool> {
        let word = self.text(node, "true or false")?;
        let hint = match word.value.to_ascii_lowercase().as_str() {
            "true" if word.value == "true" => return Some(true),
            "false" if word.value == "false" => return Some(false),
            "true" | "yes" | "on" | "y" | "1" => "true?",
            "false" | "no" | "off" | "n" | "0" => "false?",
            _ => "true or false",
        };
        self.fail("not_a_bool", word.place, format!("`{}` is neither true nor false", word.value), hint)
    }

    /// Whether `node` is the word `false`, as in place of a map.
    pub(crate) fn is_false(node: &Node) -> bool {
        node.scalar().is_some_and(|scalar| scalar.plain && scalar.text == "false")
    }

    /// A name of a network or a service.
    pub(crate) fn name(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        let name = self.text(node, what)?;
        if is_name(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, what) }
    }

    /// A key that is the name of a network.
    pub(crate) fn own_name(&mut self, entry: &Entry, what: &str) -> Option<At<String>> {
        if is_name(&entry.key) {
            return Some(At::new(entry.key.clone(), entry.place));
        }
        self.bad_name(&entry.key, entry.place, what)
    }

    /// A name that others resolve, or that stands in names of the system: no `_` in it.
    pub(crate) fn host_name(&mut self, node: &Node, what: &str) -> Option<At<String>> {
        let name = self.text(node, what)?;
        if is_host_name(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, what) }
    }

    /// A name that cannot be one, with what it could be.
    pub(crate) fn bad_name<T>(&mut self, name: &str, place: Place, what: &str) -> Option<T> {
        let message = format!("`{name}` is no name of {what}");
        let near = name_like(name);
        let advice = if near.is_empty() { near } else { format!(": {near}?") };
        let hint = format!(
            "lower-case letters, digits and -, a letter or digit at either end, at most {NAME_LETTERS_MAX}{advice}"
        );
        self.fail("lab_bad_name", place, message, hint)
    }
}

/// Longest name: of a lab, a network, a host, a service. They become parts of names of folders and cgroups.
pub(crate) const NAME_LETTERS_MAX: usize = 24;

/// Whether `text` can be the name of a network or a service: one of a host, `_` allowed inside.
pub(crate) fn is_name(text: &str) -> bool {
    is_host_name(&text.replace('_', "-"))
}

/// Whether `text` can be the name of a host (RFC 1123 §2.1, in lower case, shorter) or of a lab.
pub(crate) fn is_host_name(text: &str) -> bool {
    let inner = |letter: &u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || *letter == b'-';
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    (1..=NAME_LETTERS_MAX).contains(&bytes.len())
        && bytes.iter().all(inner)
        && ends.iter().all(|end| end.is_some_and(|letter| *letter != b'-'))
}

/// `text` changed as little as makes a name of it; empty if nothing is left.
pub(crate) fn name_like(text: &str) -> String {
    let own = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let near: String =
        text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(own).collect();
    let cut = near.get(..near.len().min(NAME_LETTERS_MAX)).unwrap_or_default();
    cut.trim_end_matches('-').to_owned()
}
