//! Decides whether two sides of runs differ, by how much, and how sure that is.
//!
//! Repeated runs differ from each other, and the seconds of one run resemble the seconds before
//! them. A comparison that ignores either finds differences everywhere. Here each side is a few
//! runs, and each run is a row of columns. The error of a value comes from drawing runs and blocks
//! of columns repeatedly (a bootstrap on both levels). Student's t corrects for few runs, and
//! Holm's method for comparing many values together. All draws derive from a seed, so the same runs
//! compare the same on any machine.

mod block_length;
mod column_counts;
mod comparability;
mod doc;
mod estimate;
mod holm;
mod metric;
mod metrics;
mod net_metrics;
mod ratio;
mod resample_table;
mod run_series;
mod student;

pub use column_counts::ColumnCounts;
pub use comparability::{Machine, check_same_kind, differences, machines};
pub use doc::{CompareContext, compare_doc};
pub(crate) use estimate::DRAWS;
pub use estimate::Estimate;
pub use holm::holm;
pub use metric::Metric;
pub use metrics::{CompareOptions, MetricComparison, SideRun, compare};
pub use net_metrics::compare_networks;
pub(crate) use ratio::required_runs;
pub use ratio::{IntervalSource, Ratio};
pub use run_series::{LatencyBuckets, RunSeries, RunSeriesBuilder, STEPS_MAX, ScopeSeries};
