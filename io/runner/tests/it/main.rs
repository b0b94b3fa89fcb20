//! Runs and searches in this process, against a server in this process.

mod calibration;
mod refused;
mod run;
mod search;
mod settling;
mod support;
