//! Errors about what stands in a topology file, told with its line.

use wavetank_grammar::{Diagnostic, Diagnostics, Span};
use wavetank_plan::UserError;

/// A remark about `file` as the error it is.
pub(crate) fn from_diagnostic(file: &str, error: &Diagnostic) -> UserError {
    let mut all = Diagnostics::default();
    all.push(error.clone());
    all.first_error(file).expect("an error was just added")
}

/// `error` with its place before the message; as it is where no line of the file caused it.
pub(crate) fn with_place(file: &str, place: Span, error: UserError) -> UserError {
    if place == Span::default() {
        return error;
    }
    let message = format!("{file}:{}:{}: {}", place.line, place.column, error.message);
    UserError { message, ..error }
}
