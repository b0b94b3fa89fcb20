//! The capacity of a host as a load generator, as text and compared with a plan.

mod margin;
mod text;

pub(crate) use margin::calibrated_load_lines;
pub use margin::{CalibrationLookup, calibration_margin, overload};
pub use text::calibration_text;
