//! Files of another kind, or of other tools: a name and a way on instead of a riddle about keys.

use crate::{Diagnostic, ErrorHints, Node, Span};

/// Top-level keys that betray a file, what it is, and what to know of it.
pub type FormatSignature = (&'static [&'static str], &'static str, &'static str);

/// A file that is `what` and not what was asked for.
pub fn foreign(what: &str, hint: &str, advice: &ErrorHints) -> Diagnostic {
    let place = Span { line: 1, column: 1, start: 0, end: 0 };
    let message = format!("this is {what}, not {}", advice.a_file);
    Diagnostic::error("foreign_file", place, message, hint)
}

/// The first of `known` all of whose keys stand at the top of the file.
pub fn detect_format(root: &Node, known: &[FormatSignature], advice: &ErrorHints) -> Option<Diagnostic> {
    let found = known.iter().find(|(keys, ..)| keys.iter().all(|key| root.get(key).is_some()));
    found.map(|(_, what, hint)| foreign(what, hint, advice))
}
