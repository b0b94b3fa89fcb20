//! [`Span`] and [`Spanned`]: places in a file.

/// A range of the file's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Line of its first character, from 1.
    pub line: usize,
    /// Column of its first character, in characters from 1.
    pub column: usize,
    /// Byte at which it begins.
    pub start: usize,
    /// Byte after its last one.
    pub end: usize,
}

/// A value and where it was written, for what later stages have to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Its place in the file.
    pub place: Span,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub const fn new(value: T, place: Span) -> Self {
        Self { value, place }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), place: self.place }
    }
}
