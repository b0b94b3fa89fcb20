//! Names.

use super::{Parser, TreeReader as _};
use crate::{Entry, Node, Spanned};

/// Letters, digits, `_`, `-`, `.`: allowed after `in`, between parentheses and in a file's name.
pub(crate) fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

impl Parser<'_> {
    /// One word, as names of phases, scenarios and targets are.
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
        self.fail("bad_name", name.place, message, format!("{}?", joined.trim_matches('-')))
    }

    /// A key that is a name of the user's choosing.
    pub(crate) fn user_defined_name(&mut self, entry: &Entry, what: &str) -> Option<Spanned<String>> {
        if is_identifier(&entry.key) {
            return Some(Spanned::new(entry.key.clone(), entry.place));
        }
        let message =
            format!("`{}` is not a valid name of {what}: use only letters, digits, _, - and .", entry.key);
        self.fail("bad_name", entry.place, message, "for example: buy, log-in, step_2")
    }
}
