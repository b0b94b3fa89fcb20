//! [`TimeSeries`]: what happened over time, in columns of one length.
//!
//! Charts and tables over time are made of it, and of nothing else. It is bounded however long the run was, and the
//! same in whatever order intervals come: the sum of its judged columns, with what is [`untimed`](TimeSeries::untimed),
//! is what [`Totals`](crate::Totals) tell of the judged keys.

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

use wavetank_plan::Nanos;

use crate::{Histogram, RequestCounters};

/// What happened over time. Made by [`TimeSeriesBuilder`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeSeries {
    /// Length of a column: 1, 2, 5, 10, 20, 30 s, 1, 2, 5 min and so on. Columns begin at multiples of it on the run's clock.
    pub column: Nanos,
    /// Without a gap in time: those of the warm-up, then those of the judged load and its drain. Where the warm-up ends
    /// inside one, it stands there twice, once of each kind.
    pub columns: Vec<TimeBucket>,
    /// Length of a step's columns: that of `column` or, where there are many steps, a multiple.
    pub step_column: Nanos,
    /// Judged requests of each step, by scenario and step, over all phases. Empty ones are absent.
    pub steps: Vec<StepTimeSeries>,
    /// Requests of steps beyond [`wavetank_plan::constants::SERIES_MAX`], which have no course of their own (offered).
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
    /// What came of warm-up requests after the warm-up: in no column, and not judged.
    pub warmup_after: RequestCounters,
    /// Of judged keys, what happened in intervals that were lost, and that a later checkpoint of the archive tells only the
    /// sum of: in the totals here, and in no column. `None` where nothing was lost.
    pub untimed: Option<Box<TimeBucket>>,
}

impl TimeSeries {
    /// Most columns that can be asked for: a column has four histograms.
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

    /// Judged requests in `response` with the time they waited, because no answer came.
    pub fn censored(&self) -> u64 {
        self.response.count().saturating_sub(self.counters.done)
    }
}
