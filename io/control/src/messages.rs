//! Requests and replies, as lines of JSON.

use serde::{Deserialize, Serialize};
use wavetank_record::{LiveDoc, LoadChangeDoc};

/// A request to a running run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlRequest {
    /// Asks for the state at the latest seal.
    Status,
    /// Asks for the state at every seal, until the run is over.
    Watch,
    /// Ends the run.
    Stop {
        /// Cuts open requests; otherwise they have at most 10 s to end.
        #[serde(default)]
        now: bool,
    },
    /// Changes the load of an active phase. Rates are in requests if the plan's are.
    Set {
        /// The new load, as the total of the run.
        load: LoadChangeDoc,
        /// Name of the phase; needed only if several phases with such a load are active.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        phase: Option<String>,
    },
    /// Adds a line to the run's events.
    Mark {
        /// The event as the user wrote it.
        text: String,
    },
}

/// The reply to a [`ControlRequest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlReply {
    /// The state of the run.
    State(Box<LiveDoc>),
    /// The request was carried out: what happens now, as a sentence.
    Accepted(String),
    /// The request was not carried out.
    Rejected {
        /// Why.
        message: String,
        /// What to do instead.
        hint: String,
    },
}

impl ControlReply {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always encode")
    }
}
