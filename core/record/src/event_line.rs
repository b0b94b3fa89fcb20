//! [`EventLine`]: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};

use crate::DecodeError;

/// Something that happened once: a phase began, a signal came, the disk was full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// When, in nanoseconds on the run's clock.
    pub at_ns: i64,
    /// Stable short name, past tense, e.g. `phase_started`, `signal_received`, `archive_failed`.
    pub kind: String,
    /// The same in words.
    pub text: String,
}

impl EventLine {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always encode")
    }

    /// Read one line, without its newline.
    ///
    /// # Errors
    /// When the bytes are no such line.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))
    }
}
