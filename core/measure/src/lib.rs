//! What was measured: histograms, counters, sealed intervals and their exact merge.
//!
//! Load threads fill an [`Interval`] each second; merged intervals add up to [`Totals`]. Nothing here
//! knows sockets, files or clocks; everything merges exactly and in any order.

mod class;
mod counters;
mod histogram;
mod interval;
mod judge;
mod spans;
mod threshold;
mod totals;
mod validity;
mod view;
mod violation;

pub use class::{DropReason, ErrorClass};
pub use counters::{Bytes, ConnCounts, Counters, StatusCounts, Wire};
pub use histogram::Histogram;
pub use interval::{Interval, PhaseSeries, StepSeries, TargetSeries, ThreadHealth};
pub use spans::Spans;
pub use threshold::{Threshold, ThresholdResult};
pub use totals::Totals;
pub use validity::{Share, ThreadLoad, Validity, WindowShare};
pub use view::{Selection, View};
pub use violation::Violation;

/// Whether percentile `q` (0 to 100) of a time that begins at the intended instant is unknown: more of the
/// offered requests were dropped than lie above it (contract §3).
pub fn percentile_unknown(counters: &Counters, q: f64) -> bool {
    // In whole requests, with the rounding of the nearest rank: 1 of 100 dropped leaves p99 known.
    let above = counters.offered as f64 * (100.0 - q) / 100.0;
    counters.dropped() as f64 > above + 1e-9 * above + 1e-9
}
