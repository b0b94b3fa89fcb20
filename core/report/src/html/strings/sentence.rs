//! Sentences with placeholders.

/// A sentence with one placeholder.
pub(crate) type Of1 = fn(&str) -> String;

/// A sentence with two placeholders.
pub(crate) type Of2 = fn(&str, &str) -> String;
