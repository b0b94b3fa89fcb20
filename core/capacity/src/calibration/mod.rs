//! The capacity of a host as a generator: the arithmetic behind `wavetank calibrate`, and the
//! demand of a plan compared with it.
//!
//! All functions are pure. They divide a given time into measurements, assign CPUs to load and
//! target, combine several rounds, and compute the share of the measured capacity that a plan
//! takes.

mod demand;
mod layout;
mod rounds;
mod schedule;

pub use demand::{HostRates, RateDemand};
pub use layout::CpuAssignment;
pub use rounds::{RoundValues, median};
pub use schedule::CalibrationSchedule;
