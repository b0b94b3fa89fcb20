//! What was measured: histograms, counters, sealed intervals and their exact merge.
//!
//! Load threads fill an [`Interval`] each second; merged intervals add up to [`Totals`]. Nothing here
//! knows sockets, files or clocks; everything merges exactly and in any order.

mod class;
mod counters;
mod histogram;
mod interval;

pub use class::{DropReason, ErrorClass};
pub use counters::{Bytes, ConnCounts, Counters, StatusCounts, Wire};
pub use histogram::Histogram;
pub use interval::{Interval, PhaseSeries, StepSeries, TargetSeries, ThreadHealth};
