//! Shapes: what a phase wants over time, as straight pieces in whole numbers.
//!
//! [`RateCurve`] is a rate, [`PopulationCurve`] a number of users or held connections. Both are made of [`Segment`]es, repeated
//! until the shape's length is reached, so that a wave of a second costs the same for a minute and for a month.
//! Everything is integers: every machine that is told a shape sees the same arrival at the same nanosecond.

mod builders;
mod curve;
mod fault;
mod levels;
mod ramp;
mod segments;
mod wave;

pub use builders::{climb_length, rise_length};
pub use curve::{CurvePiece, RateCurve};
pub use fault::ShapeError;
pub use levels::{LevelPiece, PopulationCurve};
pub use segments::Segment;
