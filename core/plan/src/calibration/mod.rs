//! What a host can do as a generator: the arithmetic behind `wavetank calibrate`, and what a plan asks for beside it.
//!
//! Pure: how a given time is divided into measurements, which CPUs load and target get, what several rounds come to, and
//! which part of what was found a plan takes.

mod asked;
mod course;
mod layout;
mod rounds;

pub use asked::{Able, Asked};
pub use course::Course;
pub use layout::Layout;
pub use rounds::{Rounds, median};
