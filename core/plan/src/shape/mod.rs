//! Shapes: what a phase wants over time, as straight pieces in whole numbers.
//!
//! [`Curve`] is a rate, [`Levels`] a number of users or held connections. Both are made of [`Stretch`]es, repeated
//! until the shape's length is reached, so that a wave of a second costs the same for a minute and for a month.
//! Everything is integers: every machine that is told a shape sees the same arrival at the same nanosecond.

mod curve;
mod fault;
mod levels;
mod line;
mod make;
mod ramp;
mod wave;

pub use curve::{Curve, CurvePiece};
pub use fault::ShapeFault;
pub use levels::{LevelPiece, Levels};
pub use line::Stretch;
pub use make::{climb_length, rise_length};
