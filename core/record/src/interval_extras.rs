//! [`IntervalExtras`]: what an agent of a fleet reports with an interval, apart from its counts.

use serde::{Deserialize, Serialize};

use crate::number_limits::check_number_limits;
use crate::{ConnectionMemory, DecodeError, EventLine, HostLine, Number, SampleLine};

/// What an agent reports with an interval: parts of other files of the archive, and facts about
/// the agent. The last key of the interval's line, absent if there is nothing.
///
/// A single host has none: its samples and events are in files of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IntervalExtras {
    /// First failures and slowest responses, for `samples.jsonl`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<SampleLine>,
    /// Lines that journeys logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<LoggedLine>,
    /// Number of further lines that they logged.
    #[serde(skip_serializing_if = "is_zero")]
    pub logs_dropped: u64,
    /// Events on the agent, for `events.jsonl`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventLine>,
    /// Inconsistencies in the agent's counters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounting: Vec<String>,
    /// Memory per connection, once it is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ConnectionMemory>,
    /// No request is open any more; when the last one was resolved, in nanoseconds on the run's
    /// clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drained_ns: Option<i64>,
    /// A journey on the agent requests the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_run: Option<EndRunRequest>,
    /// Usage of the agent's host since the start of the load, at the seal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<AgentHealth>,
    /// Samples of the agent's host since the interval before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_samples: Vec<HostLine>,
}

/// A line that a journey logged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedLine {
    /// Index of its session's phase.
    pub phase: u16,
    /// When, in nanoseconds on the run's clock.
    pub at_ns: i64,
    /// The line, without secrets and control characters.
    pub text: String,
}

/// A journey requests the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndRunRequest {
    /// Index of its scenario.
    pub scenario: u16,
    /// Index of the step with the failed request. Absent: the journey reached its `end`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u16>,
}

/// Usage of an agent's process and host. All values are cumulative since the agent's first
/// connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentHealth {
    /// CPU time of the process in user mode, seconds.
    pub cpu_user_s: Number,
    /// CPU time of the process in the kernel, seconds.
    pub cpu_system_s: Number,
    /// Seconds over which this CPU time was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_over_s: Option<Number>,
    /// Peak resident memory of the process, bytes.
    pub peak_rss_bytes: u64,
    /// Share of CPU time that the hypervisor took from the host, 0 to 1. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<Number>,
    /// Time that the host's CPU limit took from the process, nanoseconds. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// TCP segments that the host sent again. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_segments: Option<u64>,
    /// TCP segments that the host sent. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_segments: Option<u64>,
}

impl IntervalExtras {
    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the extras of an interval's line, without its newline. A line without any has empty
    /// ones. The line's other keys are not read.
    ///
    /// # Errors
    /// If the bytes are not a line with valid extras, or a number in it is beyond any run.
    pub fn decode(line: &[u8]) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        struct Line {
            #[serde(default)]
            extras: IntervalExtras,
        }
        let Line { extras } = serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))?;
        // The limits of other files, which these parts are written to.
        check_number_limits(extras.encode().as_bytes())?;
        Ok(extras)
    }

    /// The value of the key `extras`.
    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("plain data with string keys always encodes")
    }
}

/// Whether a count of 0 is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
