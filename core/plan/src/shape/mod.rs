//! Shapes: the target load of a phase over time, as straight pieces in whole numbers.
//!
//! [`RateCurve`] is a rate, [`PopulationCurve`] a number of users or held connections. Both consist
//! of [`Segment`]s, repeated until the shape's length is reached. A wave of a second therefore
//! costs the same for a minute and for a month. Everything is in integers, so that every machine
//! computes the same arrival at the same nanosecond.

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
