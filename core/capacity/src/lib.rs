//! Arithmetic about plans. Nothing on the load path needs it.
//!
//! A forecast says what a [`Plan`](wavetank_plan::Plan) will send, sizing computes the hosts that a
//! load needs, and calibration compares a plan with the measured speed of the host. This crate does
//! not use sockets, files, the clock or the environment.

pub mod calibration;
pub mod forecast;
pub mod size;
