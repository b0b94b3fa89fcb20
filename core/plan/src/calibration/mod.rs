//! What a host can do as a generator: the arithmetic behind `wavetank calibrate`, and what a plan asks for beside it.
//!
//! Pure: how a given time is divided into measurements, which CPUs load and target get, what several rounds come to, and
//! which part of what was found a plan takes.

mod demand;
mod layout;
mod rounds;
mod schedule;

pub use demand::{HostRates, RateDemand};
pub use layout::CpuAssignment;
pub use rounds::{RoundValues, median};
pub use schedule::CalibrationSchedule;
