//! Texts and names. Variables are not supported: a lab is one file, and `$` belongs to the
//! programs.

use wavetank_grammar::{Entry, Node, Span, Spanned};

use super::{Reader, TreeReader as _};

impl Reader<'_> {
    /// Reads a literal text. Characters that a program's argument or environment cannot contain are
    /// rejected.
    pub(crate) fn clean_text(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let text = self.text(node, what)?;
        if text.value.contains('\0') {
            return self.fail(
                "lab_value",
                text.place,
                format!("{what} contains a zero byte"),
                "leave it out",
            );
        }
        Some(text)
    }

    /// Reads one or several literal texts.
    pub(crate) fn clean_texts(&mut self, node: &Node, what: &str) -> Vec<Spanned<String>> {
        self.each(node, |reader, item| reader.clean_text(item, what))
    }

    /// Whether `node` is `false`, which may replace a map.
    pub(crate) fn is_false(node: &Node) -> bool {
        node.scalar().is_some_and(|scalar| scalar.plain && scalar.text == "false")
    }

    /// Reads the name of a network or a service.
    pub(crate) fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.text(node, what)?;
        if is_name(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, what) }
    }

    /// Returns the key of `entry` as the name of a network.
    pub(crate) fn own_name(&mut self, entry: &Entry, what: &str) -> Option<Spanned<String>> {
        if is_name(&entry.key) {
            return Some(Spanned::new(entry.key.clone(), entry.place));
        }
        self.bad_name(&entry.key, entry.place, what)
    }

    /// Reads a name without `_`, since hosts resolve it or it becomes part of a system name.
    pub(crate) fn host_name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.text(node, what)?;
        if is_host_name(&name.value) { Some(name) } else { self.bad_name(&name.value, name.place, what) }
    }

    /// Reports an invalid name and suggests a valid one.
    pub(crate) fn bad_name<T>(&mut self, name: &str, place: Span, what: &str) -> Option<T> {
        let message = format!("`{name}` is not a valid name of {what}");
        let near = name_like(name);
        let advice = if near.is_empty() { near } else { format!(": {near}?") };
        let hint = format!(
            "lower-case letters, digits and -, a letter or digit at either end, at most {NAME_LETTERS_MAX}{advice}"
        );
        self.fail("lab_bad_name", place, message, hint)
    }
}

/// Maximum length of the name of a lab, network, host or service. They become parts of names of
/// folders and cgroups.
pub(crate) const NAME_LETTERS_MAX: usize = 24;

/// Whether `text` can be the name of a network or a service. The rules are those of a host name,
/// and `_` is allowed inside.
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

/// Turns `text` into a valid name with as few changes as possible. The result is empty if nothing
/// is left.
pub(crate) fn name_like(text: &str) -> String {
    let own = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let near: String =
        text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(own).collect();
    let cut = near.get(..near.len().min(NAME_LETTERS_MAX)).unwrap_or_default();
    cut.trim_end_matches('-').to_owned()
}
