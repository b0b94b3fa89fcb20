//! [`Diagnostic`]: one message about a file, and [`Diagnostics`]: all of them.

use wavetank_units::{Code, UserError};

use crate::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be run.
    Error,
    /// The file can be run, but probably not with the intended effect.
    Warning,
    /// Additional information.
    Note,
}

/// One diagnostic: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, e.g. `unit_missing`.
    pub code: Code,
    /// Its severity.
    pub severity: Severity,
    /// Line, column and range of the text; `None` for a remark about the whole file or the command
    /// line.
    pub place: Option<Span>,
    /// What is wrong, with the offending text in back-quotes.
    pub message: String,
    /// What to do; empty only if there is no sensible advice.
    pub hint: String,
}

impl Diagnostic {
    /// An error at `place`.
    pub fn error(code: Code, place: Span, message: impl Into<String>, hint: impl Into<String>) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { code, severity: Severity::Error, place: Some(place), message, hint }
    }

    /// A warning at `place`.
    pub fn warning(code: Code, place: Span, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message, hint) }
    }

    /// A note at `place`.
    pub fn note(code: Code, place: Span, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, place, message, hint) }
    }

    /// Makes a diagnostic at `place` from the error of a value parser.
    pub fn from_error(error: UserError, place: Span) -> Self {
        Self::error(error.code, place, error.message, error.hint)
    }

    /// An error about the whole file or about the command line.
    pub fn without_span(code: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: None, ..Self::error(code, Span::default(), message, hint) }
    }
}

/// Most diagnostics that are kept. A file with more of them usually repeats one mistake.
const KEPT_MAX: usize = 100;

/// All diagnostics of a file, in the order of their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
    left_out: usize,
    errors: usize,
}

impl Diagnostics {
    /// Adds a diagnostic. An identical one at the same place is dropped; beyond the first hundred
    /// they are only counted.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        // Values from the command line have no place in the file.
        diagnostic.place = diagnostic.place.filter(|place| *place != Span::default());
        if self.all.contains(&diagnostic) {
            return;
        }
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        if self.all.len() < KEPT_MAX {
            self.all.push(diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Removes the kept warnings and notes with this code.
    pub fn forget(&mut self, code: &str) {
        self.all.retain(|one| one.code != code || one.severity == Severity::Error);
    }

    /// Returns the kept diagnostics in the order of their places, starting with those without a
    /// place.
    pub fn sorted(&self) -> Vec<&Diagnostic> {
        let mut sorted: Vec<&Diagnostic> = self.all.iter().collect();
        sorted.sort_by_key(|one| (one.place.map(|place| place.start), one.severity));
        sorted
    }

    /// How many were left out beyond the first hundred.
    pub const fn omitted(&self) -> usize {
        self.left_out
    }

    /// Whether the file cannot be run.
    pub const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// How many errors there are, kept or not.
    pub const fn errors(&self) -> usize {
        self.errors
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the first error in the one-line form for JSON and for scripts, with the place before
    /// the message.
    pub fn first_error(&self, file: &str) -> Option<UserError> {
        let first = self.sorted().into_iter().find(|one| one.severity == Severity::Error)?;
        let message = match first.place {
            Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, first.message),
            None => format!("{file}: {}", first.message),
        };
        Some(UserError::usage(first.code, message, first.hint.clone()))
    }
}
