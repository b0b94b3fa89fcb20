//! [`Deed`]: what is done to a host while a load runs, as the experiment's `events`, the topology's `faults` and
//! `wavetank lab fault` and `wavetank lab pool` all say it.

mod planned;
mod pool_deed;
mod pool_words;
mod words;

pub use planned::{EVENTS_MAX, planned_events};
pub use pool_deed::{PoolDeed, PoolWish};
pub use pool_words::{pool_of_words, pools_of};
pub use words::fault_of_words;

use serde::{Deserialize, Serialize};
use wavetank_plan::{EventPlan, UserError};

use crate::{FaultKind, Lab};

/// What is done to a host. It travels from the run to the host's process as JSON; it is no stored format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// A fault, which can be taken back.
    Fault(FaultKind),
    /// Servers behind a balancer take more or fewer connections; taken back, they take as many as before.
    Pool(PoolDeed),
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
    /// A usage error for a host, a service, a server or a network that the lab does not have, and for words that are no
    /// fault and no change of a pool.
    pub fn of(event: &EventPlan, lab: &Lab) -> Result<Self, UserError> {
        if let Some(fault) = EventPlan::fault(&event.run) {
            return fault_of_words(fault, lab, &event.host).map(Self::Fault);
        }
        if let Some(words) = EventPlan::pool(&event.run) {
            return pool_of_words(words, lab, &event.host).map(Self::Pool);
        }
        words::host_of(lab, &event.host)?;
        Ok(Self::Command { run: event.run.clone(), undo: event.undo.clone() })
    }
}
