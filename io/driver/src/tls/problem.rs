//! [`TlsProblem`]: an error in the requested TLS configuration.

use std::fmt;

/// An error in the requested TLS configuration, with a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsProblem {
    /// The error message, with the offending input in backticks.
    pub what: String,
    /// The hint: what to do about it.
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
