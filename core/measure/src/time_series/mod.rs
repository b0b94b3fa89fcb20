//! [`TimeSeries`]: what happened over time, in buckets of one length.
//!
//! It is the only source of charts and tables over time. Its size is bounded however long the run
//! was, and it does not depend on the order of intervals. The sum of its judged buckets and of
//! [`untimed`](TimeSeries::untimed) equals [`Totals`](crate::Totals) for the judged keys.

mod bucket_length;
mod cells;
mod column;
mod compact_histogram;
mod course_maker;
mod grid;
mod step_time_series;
mod untimed;

pub use column::TimeBucket;
pub use course_maker::TimeSeriesBuilder;
pub use step_time_series::{StepBucket, StepTimeSeries};

use wavetank_units::Nanos;

use crate::{Histogram, RequestCounters};

/// Counts and times over time. Made by [`TimeSeriesBuilder`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSeries {
    /// Length of a bucket: 1, 2, 5, 10, 20, 30 s, 1, 2, 5 min and so on. Buckets start at multiples
    /// of it on the run's clock.
    pub column: Nanos,
    /// The buckets, without a gap in time: those of the warm-up, then those of the judged load and
    /// its drain. A bucket in which the warm-up ends occurs twice, once of each kind.
    pub columns: Vec<TimeBucket>,
    /// Length of a step's columns: that of `column` or, where there are many steps, a multiple.
    pub step_column: Nanos,
    /// Judged requests of each step, by scenario and step, over all phases. Empty ones are absent.
    pub steps: Vec<StepTimeSeries>,
    /// Requests (offered) of steps beyond [`wavetank_plan::constants::SERIES_MAX`], which have no
    /// series of their own.
    pub steps_untold: u64,
    /// Response times of all judged keys: that of the totals, bucket by bucket.
    pub response: Histogram,
    /// Service times of all judged keys.
    pub service: Histogram,
    /// Lag of all judged phases.
    pub lag: Histogram,
    /// Wait of all judged phases.
    pub wait: Histogram,
    /// Counts of all judged keys: those of the totals.
    pub counters: RequestCounters,
    /// Results of warm-up requests that ended after the warm-up: in no bucket, and not judged.
    pub warmup_after: RequestCounters,
    /// The judged keys' part of lost intervals, of which a later checkpoint of the archive contains
    /// only the sum. It is in the totals here, and in no bucket. `None` if nothing was lost.
    pub untimed: Option<Box<TimeBucket>>,
}

impl TimeSeries {
    /// Limit of the number of buckets: each has four histograms.
    pub const COLUMNS_MAX: usize = 1_024;
    /// Most cells (columns of steps) kept: where more would be needed, steps have longer columns.
    pub const CELLS_MAX: usize = 2 * wavetank_plan::constants::SERIES_MAX;

    /// The columns of the judged load and its drain.
    pub fn judged(&self) -> &[TimeBucket] {
        &self.columns[self.columns.partition_point(|column| column.warmup)..]
    }

    /// The columns of the warm-up.
    pub fn warmup(&self) -> &[TimeBucket] {
        &self.columns[..self.columns.partition_point(|column| column.warmup)]
    }

    /// Judged requests included in `response` with the time they waited, because no response came.
    pub fn censored(&self) -> u64 {
        let timed = self.judged().iter().chain(self.untimed.as_deref());
        let one_way: u64 = timed.map(|bucket| bucket.wire.one_way).sum();
        (self.response.count() + one_way).saturating_sub(self.counters.done)
    }
}
