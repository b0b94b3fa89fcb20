//! Measures what this host can do as a generator.
//!
//! Every number comes from a run as `run` makes it: options or an experiment, a plan, load threads,
//! sealed intervals, a record. Nothing is timed here.

mod bench;
mod connection_memory;
mod interference;
mod rounds;
mod session;
mod target;

pub use bench::CalibrationError;
pub use session::{CalibrationSetup, calibrate};
pub use target::{CalibrationTarget, TargetCounts};
