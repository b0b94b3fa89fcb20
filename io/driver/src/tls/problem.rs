//! [`TlsProblem`]: what is wrong with the TLS that was asked for.

use std::fmt;

/// What is wrong with the TLS that was asked for, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsProblem {
    /// Description of the problem, with the invalid value in back-quotes.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl TlsProblem {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.hint)
    }
}

impl std::error::Error for TlsProblem {}
