//! [`SampleLine`]: one line of `samples.jsonl`.

use serde::{Deserialize, Serialize};

use crate::number_limits::check_number_limits;
use crate::{DecodeError, Number};

/// One request kept as an example: the first failures of each class and the slowest responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampleLine {
    /// `failed` or `slow`.
    pub kind: String,
    /// Error class of a failed one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Name of the phase.
    pub phase: String,
    /// Name of the step.
    pub step: String,
    /// Name of the scenario; absent for the unnamed one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scenario: String,
    /// Intended instant on the run's clock, nanoseconds.
    pub intended_ns: i64,
    /// Actual start − intended start.
    pub lag_us: Number,
    /// Sent − actual start; absent if it was never sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_us: Option<Number>,
    /// First byte − sent; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttfb_us: Option<Number>,
    /// End − intended.
    pub total_us: Number,
    /// Status of the response, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Address it went to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    /// A description of the failure; never contains a secret.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

impl SampleLine {
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
