//! Recognises files of another kind or of other tools, and reports the kind instead of unknown
//! keys.

use crate::{Diagnostic, ErrorHints, Node, Span};
use wavetank_units::Code;

/// Top-level keys that identify a kind of file, its name, and a hint.
pub type FormatSignature = (&'static [&'static str], &'static str, &'static str);

/// Makes a diagnostic for a file of another kind, `what`.
pub fn foreign(what: &str, hint: &str, advice: &ErrorHints) -> Diagnostic {
    let place = Span { line: 1, column: 1, start: 0, end: 0 };
    let message = format!("this is {what}, not {}", advice.a_file);
    Diagnostic::error(Code::ForeignFile, place, message, hint)
}

/// Returns a diagnostic for the first of `known` with all of its keys at the top level of the file.
pub fn detect_format(root: &Node, known: &[FormatSignature], advice: &ErrorHints) -> Option<Diagnostic> {
    let found = known.iter().find(|(keys, ..)| keys.iter().all(|key| root.get(key).is_some()));
    found.map(|(_, what, hint)| foreign(what, hint, advice))
}
