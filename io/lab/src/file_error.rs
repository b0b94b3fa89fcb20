//! Errors about a topology file, with its line.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_units::UserError;

/// Converts a diagnostic about `file` into an error.
pub(crate) fn from_diagnostic(file: &str, error: &Diagnostic) -> UserError {
    let mut all = Diagnostics::default();
    all.push(error.clone());
    all.first_error(file).expect("an error was just added")
}

/// Adds the place in `file` to the message of `error`; unchanged if no line caused it.
pub(crate) fn with_place(file: &str, place: Span, error: UserError) -> UserError {
    if place == Span::default() {
        return error;
    }
    let message = format!("{file}:{}:{}: {}", place.line, place.column, error.message);
    UserError { message, ..error }
}
