//! What this host can do as a generator: the parts of `wavetank calibrate`.
//!
//! Every number comes from a run as `run` makes it: options or an experiment, a plan, load threads, sealed intervals, a
//! record. Nothing is timed here.

mod as_target;
mod bench;
mod disturbance;
mod hold;
mod own_target;
mod stored;
mod tally;

pub(crate) use as_target::as_target;
pub(crate) use bench::{Bench, Broken, FULL_LOAD};
pub(crate) use disturbance::Disturbance;
pub(crate) use hold::{held_most, hold};
pub(crate) use own_target::OwnTarget;
pub(crate) use stored::{calibration_file, plan_overload, plan_standing};
pub(crate) use tally::{Tally, lag_doc, rounded, sent};
