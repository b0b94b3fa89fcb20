//! Names.

use wavetank_grammar::{Entry, Node, Spanned};
use wavetank_units::Code;

use super::{Parser, TreeReader as _};

/// Whether `text` has only letters, digits, `_`, `-`, `.`, so it can be used after `in`, between
/// parentheses and in file names.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

impl Parser<'_> {
    /// Reads a name of one term, such as that of a phase, scenario or target.
    pub(crate) fn name(&mut self, node: &Node, what: &str) -> Option<Spanned<String>> {
        let name = self.text(node, what)?;
        if is_identifier(&name.value) {
            return Some(name);
        }
        let message = format!("`{}` is not a valid name: use only letters, digits, _, - and .", name.value);
        let joined: String = name
            .value
            .chars()
            .map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '-' })
            .collect();
        self.fail(Code::BadName, name.place, message, format!("{}?", joined.trim_matches('-')))
    }

    /// Reads a key that is a user-defined name.
    pub(crate) fn user_defined_name(&mut self, entry: &Entry, what: &str) -> Option<Spanned<String>> {
        if is_identifier(&entry.key) {
            return Some(Spanned::new(entry.key.clone(), entry.place));
        }
        let message =
            format!("`{}` is not a valid name of {what}: use only letters, digits, _, - and .", entry.key);
        self.fail(Code::BadName, entry.place, message, "for example: buy, log-in, step_2")
    }
}
