//! [`Deed`]: what is done to a host while a load runs, as the experiment's `events`, the topology's `faults` and
//! `wavetank lab fault` all say it.

mod planned;
mod words;

pub use planned::{EVENTS_MAX, planned_events};
pub use words::fault_of_words;

use serde::{Deserialize, Serialize};
use wavetank_plan::{EventPlan, UserError};

use crate::{FaultKind, Lab};

/// What is done to a host. It travels from the run to the host's process as JSON; it is no stored format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// A fault, which can be taken back.
    Fault(FaultKind),
    /// A command for the host's shell, and the one that takes it back.
    Command {
        /// What is done.
        run: String,
        /// What takes it back.
        undo: Option<String>,
    },
}

impl Deed {
    /// What `event` asks for in `lab`.
    ///
    /// # Errors
    /// A usage error for a host, a service or a network that the lab does not have, and for words that are no fault.
    pub fn of(event: &EventPlan, lab: &Lab) -> Result<Self, UserError> {
        if let Some(fault) = EventPlan::fault(&event.run) {
            return fault_of_words(fault, lab, &event.host).map(Self::Fault);
        }
        words::host_of(lab, &event.host)?;
        Ok(Self::Command { run: event.run.clone(), undo: event.undo.clone() })
    }
}
