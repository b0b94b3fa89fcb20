//! [`EventExecutor`]: executes the plan's events on a host. [`EventRunner`]: starts and reverts
//! them at their times.
//!
//! An action may take seconds (such as restarting a service until it is healthy), and the run must
//! handle signals and seals meanwhile. So executors run in threads of their own, one for each host.
//! Their channels have room for every message that can ever be in them.

mod lab;
mod runner;
#[cfg(test)]
mod tests;

pub(crate) use lab::LabEventExecutor;
pub use lab::{revert_action, start_action};
pub(crate) use runner::{EventRunner, EventUpdate};

use wavetank_plan::PlannedEvent;
use wavetank_units::UserError;

/// Executes events on one host. When it is gone, also because this process was killed, the host
/// reverts every action that it started and did not revert.
pub(crate) trait EventExecutor: Send {
    /// Does it. What is returned names it for [`end`](Self::end).
    fn begin(&mut self, event: &PlannedEvent) -> Result<u64, UserError>;

    /// Takes it back.
    fn end(&mut self, event: &PlannedEvent, id: u64) -> Result<(), UserError>;
}

/// Makes hands, one for each thread that works.
pub(crate) type ExecutorFactory<'a> = &'a dyn Fn() -> Result<Box<dyn EventExecutor>, UserError>;
