//! What a host can do as a generator, as text, and beside a plan.

mod standing;
mod text;

pub(crate) use standing::standing_lines;
pub use standing::{Known, overload, standing};
pub use text::calibration_text;
