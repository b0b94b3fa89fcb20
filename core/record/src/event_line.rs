//! [`EventLine`]: one line of `events.jsonl`.

use serde::{Deserialize, Serialize};
use wavetank_plan::LoadChange;
use wavetank_units::Nanos;

use crate::number_limits::check_number_limits;
use crate::{DecodeError, LoadChangeDoc, Setup};

/// A single event: a phase started, a signal arrived, the disk was full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLine {
    /// When, in nanoseconds on the run's clock.
    pub at_ns: i64,
    /// Stable short name, past tense, e.g. `phase_started`, `signal_received`, `archive_failed`.
    pub kind: String,
    /// The event as a sentence.
    pub text: String,
    /// Index of the phase concerned. From `phase_ended` events a killed run recovers the length of
    /// phases that have no fixed end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u16>,
    /// Requests outside every counter: those of the run's `before` or `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Setup>,
    /// Index into the plan's events, for [`EVENT_DONE`], [`EVENT_FAILED`], [`EVENT_UNDONE`] and
    /// [`EVENT_STUCK`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<u16>,
    /// Name of the agent concerned, for [`AGENT_LOST`] and for events that an agent reported. Empty
    /// on a single host.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The new load from that instant on, for [`LOAD_CHANGED`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadChangeDoc>,
}

/// The event kinds that contain the number of requests sent by the run's `before` and `after`.
pub const AROUND_DONE: [&str; 2] = ["before_done", "after_done"];

/// Event kind: a phase's arrivals ended.
pub const PHASE_ENDED: &str = "phase_ended";

/// Event kind: the load of a phase was changed while it ran. `at_ns` is the instant from which the
/// new load applies.
pub const LOAD_CHANGED: &str = "load_changed";

/// Event kind: the user marked an instant (`wavetank event`).
pub const MARKED: &str = "marked";

/// Event kind: an agent was silent under load and is lost. Readers of the intervals count what it
/// held as lost from this instant on, unless it has later intervals.
pub const AGENT_LOST: &str = "agent_lost";

/// Event kind: the loss of an agent ended the run, because the user wanted that.
pub const STOPPED_ON_LOSS: &str = "stopped_on_loss";

/// Event kind: intervals that an agent had kept were added to the archive after the run.
pub const SETTLED: &str = "settled";

/// Event kind: one of the plan's events was carried out.
pub const EVENT_DONE: &str = "event_done";
/// Event kind: one of the plan's events could not be carried out and had no effect.
pub const EVENT_FAILED: &str = "event_failed";
/// Event kind: one of the plan's events was reverted.
pub const EVENT_UNDONE: &str = "event_undone";
/// Event kind: one of the plan's events could not be reverted.
pub const EVENT_STUCK: &str = "event_stuck";

/// Event kind: the target was asked for its own count of connections and does not report one.
pub const TARGET_TELLS_NOTHING: &str = "target_tells_nothing";

/// Event kind: connections go to other addresses of a name from this moment on.
pub const NAMES_MOVED: &str = "names_moved";
/// Event kind: a repeated lookup of a name failed.
pub const NAMES_FAILED: &str = "names_failed";
/// Event kind: some addresses of a name are not used.
pub const NAMES_REFUSED: &str = "names_refused";

impl EventLine {
    /// What happened at `at`, and nothing else.
    pub fn new(at: Nanos, kind: &str, text: impl Into<String>) -> Self {
        Self { at_ns: at.0, kind: kind.to_owned(), text: text.into(), ..Self::default() }
    }

    /// The change of the load at this event, if it is one: when, of which phase, and to what.
    pub fn load_change(&self) -> Option<(Nanos, Option<u16>, LoadChange)> {
        let load = self.load.filter(|_| self.kind == LOAD_CHANGED)?;
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
