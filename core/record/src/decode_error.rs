//! [`DecodeError`]: stored bytes that are not what they should be.

use std::fmt;

/// Why stored text could not be read back. The message names the place where the reader stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    message: String,
}

impl DecodeError {
    /// Something else than a parser's complaint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    pub(crate) fn json(error: &serde_json::Error) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn schema(found: &str, wanted: &str) -> Self {
        Self::new(format!("schema is `{found}`, not `{wanted}`"))
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}
