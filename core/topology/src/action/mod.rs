//! [`HostAction`]: an action on a host while a load runs. It comes from the `events` of an
//! experiment, the `faults` of a topology file, `wavetank lab fault` or `wavetank lab pool`.

mod parse_fault;
mod parse_pool;
mod pool_action;
mod schedule;

pub use parse_fault::parse_fault;
pub use parse_pool::{parse_pool_change, pools_of};
pub use pool_action::{PoolAction, ServerMode};
pub use schedule::{EVENTS_MAX, planned_events};

use serde::{Deserialize, Serialize};
use wavetank_plan::PlannedEvent;
use wavetank_units::UserError;

use crate::{FaultKind, Lab};

/// An action on a host. The run sends it to the host's process as JSON; it is not a stored format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostAction {
    /// A fault, which can be reverted.
    Fault(FaultKind),
    /// Servers behind a balancer get more or fewer connections. Reverting restores their previous
    /// share.
    Pool(PoolAction),
    /// A command for the host's shell, and the command that reverts it.
    Command {
        /// The command.
        run: String,
        /// The command that reverts it.
        undo: Option<String>,
    },
}

impl HostAction {
    /// Returns the action that `event` requests in `lab`.
    ///
    /// # Errors
    /// A usage error if the lab does not have the host, service, server or network, or if the text
    /// is not a fault or pool change.
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
