//! Whether two sides of runs differ, by how much, and how sure that is.
//!
//! Runs of one thing differ from each other, and seconds of one run are like the seconds before them; a comparison that
//! forgets either finds differences everywhere. Here each side is a few runs, each run a row of columns. What a value
//! may be off by comes from drawing runs and blocks of columns again and again (a bootstrap on both levels), what that says
//! of few runs is corrected by Student's t, and many values compared at once by Holm. Everything drawn comes from a seed:
//! the same runs compare the same on any machine.

mod block_length;
mod column_counts;
mod comparability;
mod doc;
mod estimate;
mod holm;
mod metric;
mod metrics;
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
pub(crate) use ratio::required_runs;
pub use ratio::{IntervalSource, Ratio};
pub use run_series::{LatencyBuckets, RunSeries, RunSeriesBuilder, STEPS_MAX, ScopeSeries};
