//! [`EventLine`]: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};
use wavetank_plan::Nanos;

use crate::number_limits::check_number_limits;
use crate::{DecodeError, Setup};

/// Something that happened once: a phase began, a signal came, the disk was full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// When, in nanoseconds on the run's clock.
    pub at_ns: i64,
    /// Stable short name, past tense, e.g. `phase_started`, `signal_received`, `archive_failed`.
    pub kind: String,
    /// The same in words.
    pub text: String,
    /// Index of the phase it is about. `phase_ended` events give a killed run back the length of phases that
    /// no time ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u16>,
    /// Requests outside every counter that it tells of: those of the run's `before` or `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Index into the plan's events of the one it tells of: [`EVENT_DONE`], [`EVENT_FAILED`], [`EVENT_UNDONE`] and
    /// [`EVENT_STUCK`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u16>,
}

/// The kinds of event that tell how many requests the run's `before` and `after` sent.
pub const AROUND_DONE: [&str; 2] = ["before_done", "after_done"];

/// The kind of event that tells when a phase's arrivals ended.
pub const PHASE_ENDED: &str = "phase_ended";

/// The kind of event that tells that one of the plan's events was begun.
pub const EVENT_DONE: &str = "event_done";
/// The kind of event that tells that one of the plan's events could not be done; nothing came of it.
pub const EVENT_FAILED: &str = "event_failed";
/// The kind of event that tells that one of the plan's events was taken back.
pub const EVENT_UNDONE: &str = "event_undone";
/// The kind of event that tells that one of the plan's events could not be taken back.
pub const EVENT_STUCK: &str = "event_stuck";

/// The kind of event that tells that the target was asked for its own count of connections and does not tell one.
pub const TARGET_TELLS_NOTHING: &str = "target_tells_nothing";

/// The kind of event that tells that connections go to other addresses of a name from then on.
pub const NAMES_MOVED: &str = "names_moved";
/// The kind of event that tells that a name was looked up again in vain.
pub const NAMES_FAILED: &str = "names_failed";
/// The kind of event that tells of addresses of a name that are not used.
pub const NAMES_REFUSED: &str = "names_refused";

impl EventLine {
    /// What happened at `at`, and nothing else.
    pub fn new(at: Nanos, kind: &str, text: impl Into<String>) -> Self {
        Self { at_ns: at.0, kind: kind.to_owned(), text: text.into(), ..Self::default() }
    }

    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always encode")
    }

    /// Read one line, without its newline.
    ///
    /// # Errors
    /// When the bytes are no such line, or a number in it is beyond any run.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        check_number_limits(line)?;
        serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))
    }
}
