//! [`DecodeError`]: stored bytes that are not what they should be.

use std::fmt;

use serde::Deserialize;

/// Why stored text could not be read back. The message names the place where the reader stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    message: String,
    newer: bool,
}

impl DecodeError {
    /// Something else than a parser's complaint.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), newer: false }
    }

    pub(crate) fn json(error: &serde_json::Error) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn schema(found: &str, wanted: &str) -> Self {
        let number = |schema: &str| schema.rsplit_once('/')?.1.parse::<u32>().ok();
        let kind = |schema: &str| schema.rsplit_once('/').map(|(kind, _)| kind.to_owned());
        Self {
            message: format!("schema is `{found}`, not `{wanted}`"),
            newer: kind(found) == kind(wanted) && number(found) > number(wanted),
        }
    }

    /// A mismatch of a numeric version, e.g. of a line or of a plan.
    pub(crate) fn version(what: &str, found: u32, wanted: u32) -> Self {
        Self { message: format!("{what} {found} is not {wanted}"), newer: found > wanted }
    }

    /// Why `line` could not be read: it has a later version, if that can still be read, or else the
    /// parser's message.
    pub(crate) fn line(line: &[u8], wanted: u32, error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Peek {
            v: u32,
        }
        match serde_json::from_slice::<Peek>(line) {
            Ok(peek) if peek.v > wanted => Self::version("version", peek.v, wanted),
            _ => Self::json(error),
        }
    }

    /// Why `text`, a JSON object that should have the schema `wanted`, could not be read. It has
    /// another schema, if that can still be read; otherwise the result is the parser's message.
    pub(crate) fn json_for(text: &str, wanted: &str, error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Peek {
            schema: String,
        }
        match serde_json::from_str::<Peek>(text) {
            Ok(peek) if peek.schema != wanted => Self::schema(&peek.schema, wanted),
            _ => Self::json(error),
        }
    }

    /// Whether the text has a later version of its format than this program knows, so it is not
    /// damaged.
    pub const fn is_newer(&self) -> bool {
        self.newer
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}
