//! [`Diagnostic`]: one remark about the file, and [`Diagnostics`]: all of them.

use wavetank_plan::UserError;

use crate::Span;

/// How grave a remark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be run.
    Error,
    /// It can, but probably does not do what was meant.
    Warning,
    /// Worth knowing.
    Note,
}

/// One remark: what is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable short name, e.g. `unit_missing`.
    pub code: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// Line, column and stretch of text; `None` where it is about the whole file or the command line.
    pub place: Option<Span>,
    /// What is wrong, with the offending words in backticks.
    pub message: String,
    /// What to do; may be empty only where there is nothing sensible to advise.
    pub hint: String,
}

impl Diagnostic {
    /// An error at `place`.
    pub fn error(
        code: &'static str,
        place: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { code, severity: Severity::Error, place: Some(place), message, hint }
    }

    /// A warning at `place`.
    pub fn warning(
        code: &'static str,
        place: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, place, message, hint) }
    }

    /// A note at `place`.
    pub fn note(
        code: &'static str,
        place: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { severity: Severity::Note, ..Self::error(code, place, message, hint) }
    }

    /// An error of a smaller reader, told at `place`.
    pub fn from_error(error: UserError, place: Span) -> Self {
        Self::error(error.code, place, error.message, error.hint)
    }

    /// An error about the whole file or about the command line.
    pub fn without_span(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { place: None, ..Self::error(code, Span::default(), message, hint) }
    }
}

/// Most remarks that are kept: whoever has more of them has one mistake many times.
const KEPT_MAX: usize = 100;

/// All remarks about a file, in the order of their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    all: Vec<Diagnostic>,
    left_out: usize,
    errors: usize,
}

impl Diagnostics {
    /// Adds one. What says the same of the same place is told once; beyond the first hundred they are counted.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        // What the command line brought in stands nowhere in the file.
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

    /// Forgets the warnings and notes of that code, as far as they are kept.
    pub fn forget(&mut self, code: &str) {
        self.all.retain(|one| one.code != code || one.severity == Severity::Error);
    }

    /// Those that are kept, in the order of their places; what has none comes first.
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

    /// Whether nothing was remarked.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The first error as the one-line form for JSON and for scripts: the place stands before the message.
    pub fn first_error(&self, file: &str) -> Option<UserError> {
        let first = self.sorted().into_iter().find(|one| one.severity == Severity::Error)?;
        let message = match first.place {
            Some(place) => format!("{file}:{}:{}: {}", place.line, place.column, first.message),
            None => format!("{file}: {}", first.message),
        };
        Some(UserError::usage(first.code, message, first.hint.clone()))
    }
}
