//! [`EventLine`]: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};
use wavetank_plan::LoadChange;
use wavetank_units::{Nanos, Sentence};

use crate::number_limits::check_number_limits;
use crate::{DecodeError, EventKind, LoadChangeDoc, Setup};

/// A single event: a phase started, a signal arrived, the disk was full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// When, in nanoseconds on the run's clock.
    pub at_ns: i64,
    /// Stable short name, past tense, e.g. `phase_started`, `signal_received`, `archive_failed`.
    pub kind: String,
    /// The event as a sentence.
    pub text: Sentence,
    /// Index of the phase concerned. From `phase_ended` events a killed run recovers the length of
    /// phases that have no fixed end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u16>,
    /// Requests outside every counter: those of the run's `before` or `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Index into the plan's events, for the kinds that report one of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u16>,
    /// Name of the agent concerned, for [`EventKind::AgentLost`] and for events that an agent
    /// reported. Empty on a single host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The new load from that instant on, for [`EventKind::LoadChanged`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadChangeDoc>,
}

impl EventLine {
    /// What happened at `at`, and nothing else.
    pub fn new(at: Nanos, kind: EventKind, text: Sentence) -> Self {
        Self { at_ns: at.0, kind: kind.name().to_owned(), text, ..Self::default() }
    }

    /// The change of the load at this event, if it is one: when, of which phase, and to what.
    pub fn load_change(&self) -> Option<(Nanos, Option<u16>, LoadChange)> {
        let load = self.load.filter(|_| self.kind == EventKind::LoadChanged)?;
        Some((Nanos(self.at_ns), self.phase, load.into()))
    }

    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always encode")
    }

    /// Reads one line, without its newline.
    ///
    /// # Errors
    /// If the bytes are not such a line, or a number in it is beyond any run.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        check_number_limits(line)?;
        serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))
    }
}
