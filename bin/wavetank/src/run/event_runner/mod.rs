//! [`EventExecutor`]: who does to hosts what the plan's events say; [`EventRunner`]: that it is done at its time and taken back.
//!
//! Whatever a hand does may take seconds (a service that is started again until it is healthy), and the run looks at
//! signals and seals meanwhile. So hands work in threads of their own, one for each host, and are told and heard over
//! channels with a place for everything that can ever be in them.

mod lab;
mod runner;
#[cfg(test)]
mod tests;

pub(crate) use lab::{LabEventExecutor, revert_action, start_action};
pub(crate) use runner::{EventRunner, EventUpdate};

use wavetank_plan::{PlannedEvent, UserError};

/// Does to one host what events say. Whatever it has done and not taken back is taken back by whoever it speaks to, once
/// it is gone: also if this process is killed.
pub(crate) trait EventExecutor: Send {
    /// Does it. What is returned names it for [`end`](Self::end).
    fn begin(&mut self, event: &PlannedEvent) -> Result<u64, UserError>;

    /// Takes it back.
    fn end(&mut self, event: &PlannedEvent, id: u64) -> Result<(), UserError>;
}

/// Makes hands, one for each thread that works.
pub(crate) type ExecutorFactory<'a> = &'a dyn Fn() -> Result<Box<dyn EventExecutor>, UserError>;
