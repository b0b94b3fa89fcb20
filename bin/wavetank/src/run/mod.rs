//! The parts of a run that the commands share.

mod agent_host;
mod conduct;
mod execute;
mod judge;
mod lookup;
pub(crate) mod output;
mod probing;
mod talk;

pub(crate) use conduct::{Conducted, Conductor};
pub(crate) use execute::{Executed, Execution, execute, host_cannot};
pub(crate) use judge::{Told, judge};
pub(crate) use lookup::{admit, lookup};
pub(crate) use probing::{Probed, cure, is_safe, probe};
pub(crate) use talk::Talk;
