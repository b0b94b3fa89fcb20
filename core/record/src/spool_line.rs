//! [`SpoolLine`]: the lines of an agent's spool that are no intervals.

use serde::{Deserialize, Serialize};

use crate::DecodeError;

/// Version of the spool.
const SPOOL_VERSION: u32 = 1;
/// Bound of the number of changes that a run can have.
const ADJUSTMENTS_MAX: u64 = 1 << 53;

/// A line of a spool that is no [`IntervalLine`](crate::IntervalLine).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpoolLine {
    /// The first line: the run and the agent of these intervals.
    Spool(SpoolHead),
    /// The agent accepted a later epoch, or received a change. The last of these lines counts.
    State(SpoolState),
    /// The agent has ended.
    End(SpoolEnd),
}

/// The run and the agent of a spool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpoolHead {
    /// Version of the spool, [`SpoolHead::VERSION`].
    pub v: u32,
    /// Number of the run.
    pub run: u64,
    /// Epoch of the controller that offered the share.
    pub epoch: u64,
    /// SHA-256 of `plan.yaml`, in hexadecimal.
    pub plan_hash: String,
    /// The agent's share of the load: first, width, of.
    pub share: (u64, u64, u64),
    /// Name of the agent.
    pub agent: String,
}

impl SpoolHead {
    /// Version that is written and read.
    pub const VERSION: u32 = SPOOL_VERSION;
}

/// What an agent must know again after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpoolState {
    /// The last epoch that the agent accepted.
    pub epoch: u64,
    /// Changes and new shares that it received.
    pub received: u64,
    /// Those of them that it refused.
    pub refused: u64,
}

/// The end of an agent's part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpoolEnd {
    /// The cause, as in an agent's `done`.
    pub cause: String,
    /// Changes and new shares that it received.
    pub received: u64,
    /// Those of them that it refused.
    pub refused: u64,
}

impl SpoolLine {
    /// The line without its newline.
    pub fn encode(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers always encode")
    }

    /// Reads one line, without its newline. Returns `None` for the line of an interval.
    ///
    /// # Errors
    /// If the bytes are not such a line, have an unknown version, or a number in it is beyond any
    /// run.
    pub fn decode(line: &[u8]) -> Result<Option<Self>, DecodeError> {
        if line.starts_with(b"{\"v\":") {
            return Ok(None);
        }
        let read: Self = serde_json::from_slice(line).map_err(|error| DecodeError::json(&error))?;
        match &read {
            Self::Spool(head) if head.v != SPOOL_VERSION => {
                return Err(DecodeError::version("version", head.v, SPOOL_VERSION));
            }
            Self::Spool(SpoolHead { share: (first, width, of), .. })
                if *of == 0 || first.checked_add(*width).is_none_or(|end| end > *of) =>
            {
                return Err(DecodeError::new(format!("[{first},{width},{of}] is not a share")));
            }
            Self::State(SpoolState { received, refused, .. })
            | Self::End(SpoolEnd { received, refused, .. })
                if received.max(refused) > &ADJUSTMENTS_MAX =>
            {
                return Err(DecodeError::new("a count beyond any run"));
            }
            _ => {}
        }
        Ok(Some(read))
    }
}
