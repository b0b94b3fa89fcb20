//! [`EventLine`]: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};

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
