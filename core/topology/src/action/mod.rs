//! [`HostAction`]: what is done to a host while a load runs, as the experiment's `events`, the topology's `faults` and
//! `wavetank lab fault` and `wavetank lab pool` all say it.

mod parse_fault;
mod parse_pool;
mod pool_deed;
mod schedule;

pub use parse_fault::parse_fault;
pub use parse_pool::{parse_pool_change, pools_of};
pub use pool_deed::{PoolAction, ServerMode};
pub use schedule::{EVENTS_MAX, planned_events};

use serde::{Deserialize, Serialize};
use wavetank_plan::{PlannedEvent, UserError};

use crate::{FaultKind, Lab};

/// What is done to a host. It travels from the run to the host's process as JSON; it is no stored format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostAction {
    /// A fault, which can be taken back.
    Fault(FaultKind),
    /// Servers behind a balancer take more or fewer connections; taken back, they take as many as before.
    Pool(PoolAction),
    /// A command for the host's shell, and the one that takes it back.
    Command {
        /// What is done.
        run: String,
        /// What takes it back.
        undo: Option<String>,
    },
}

impl HostAction {
    /// What `event` asks for in `lab`.
    ///
    /// # Errors
    /// A usage error for a host, a service, a server or a network that the lab does not have, and for words that are no
    /// fault and no change of a pool.
    pub fn from_event(event: &PlannedEvent, lab: &Lab) -> Result<Self, UserError> {
        if let Some(fault) = PlannedEvent::fault(&event.run) {
            return parse_fault(fault, lab, &event.host).map(Self::Fault);
        }
        if let Some(words) = PlannedEvent::pool(&event.run) {
            return parse_pool_change(words, lab, &event.host).map(Self::Pool);
        }
        parse_fault::find_host(lab, &event.host)?;
        Ok(Self::Command { run: event.run.clone(), undo: event.undo.clone() })
    }
}
