//! The parts of `wavetank calibrate` outside the measurements: the server's process, and the file.

mod as_target;
mod calibration_store;
mod target_process;

pub(crate) use as_target::as_target;
pub(crate) use calibration_store::{calibrated_load, calibration_file, plan_overload};
pub(crate) use target_process::TargetProcess;
