//! Measures what this host can do as a generator: the parts of `wavetank calibrate`.
//!
//! Every number comes from a run as `run` makes it: options or an experiment, a plan, load threads,
//! sealed intervals, a record. Nothing is timed here.

mod as_target;
mod bench;
mod calibration_store;
mod connection_memory;
mod interference;
mod rounds;
mod target_process;

pub(crate) use as_target::as_target;
pub(crate) use bench::{Bench, BenchError, FULL_LOAD};
pub(crate) use calibration_store::{calibrated_load, calibration_file, plan_overload};
pub(crate) use connection_memory::{hold, max_holdable};
pub(crate) use interference::InterferenceProbe;
pub(crate) use rounds::{RoundStats, lag_doc, rounded, sent};
pub(crate) use target_process::TargetProcess;
