//! What a host can do as a generator, as text, and beside a plan.

mod margin;
mod text;

pub(crate) use margin::calibrated_load_lines;
pub use margin::{CalibrationLookup, calibration_margin, overload};
pub use text::calibration_text;
