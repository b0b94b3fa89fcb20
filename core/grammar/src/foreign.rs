//! Files of another kind, or of other tools: a name and a way on instead of a riddle about keys.

use crate::{Advice, Diagnostic, Node, Place};

/// Top-level keys that betray a file, what it is, and what to know of it.
pub type Foreign = (&'static [&'static str], &'static str, &'static str);

/// A file that is `what` and not what was asked for.
pub fn foreign(what: &str, hint: &str, advice: &Advice) -> Diagnostic {
    let place = Place { line: 1, column: 1, start: 0, end: 0 };
    let message = format!("this is {what}, not {}", advice.a_file);
    Diagnostic::error("foreign_file", place, message, hint)
}

/// The first of `known` all of whose keys stand at the top of the file.
pub fn foreign_in_tree(root: &Node, known: &[Foreign], advice: &Advice) -> Option<Diagnostic> {
    let found = known.iter().find(|(keys, ..)| keys.iter().all(|key| root.get(key).is_some()));
    found.map(|(_, what, hint)| foreign(what, hint, advice))
}
