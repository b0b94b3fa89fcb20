//! Values that have no position in a file, as those of the command line.

use wavetank_grammar::{Span, Spanned};

/// The position of such a value.
pub(crate) const PLACE: Span = Span { line: 0, column: 0, start: 0, end: 0 };

/// Wraps a value that has no position in the file.
pub(crate) const fn without_span<T>(value: T) -> Spanned<T> {
    Spanned::new(value, PLACE)
}
