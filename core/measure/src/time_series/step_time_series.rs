//! [`StepTimeSeries`]: one step over time.

use wavetank_units::Nanos;

use crate::{Histogram, RequestCounters};

/// Judged requests of one step over time, those of all phases together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepTimeSeries {
    /// Index into the plan's scenarios.
    pub scenario: u16,
    /// Index into the scenario's steps.
    pub step: u16,
    /// Counts of the whole run.
    pub counters: RequestCounters,
    /// Response times of the whole run, with the time waited of censored requests.
    pub response: Histogram,
    /// Buckets in which the step has any data, in order. Their number is their place in time
    /// divided by [`TimeSeries::step_column`](super::TimeSeries::step_column).
    pub columns: Vec<StepBucket>,
}

/// One step in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepBucket {
    /// Begin, on the run's clock: a multiple of the length.
    pub from: Nanos,
    /// Offered in it.
    pub offered: u64,
    /// Done in it.
    pub done: u64,
    /// Failed in it.
    pub failed: u64,
    /// Dropped in it.
    pub dropped: u64,
    /// Samples that the percentiles are of: those done, and the censored ones.
    pub samples: u64,
    /// Median of the response time, nanoseconds; `None` without a sample.
    pub p50: Option<u64>,
    /// 99th percentile of the response time, nanoseconds.
    pub p99: Option<u64>,
    /// The slowest, nanoseconds.
    pub max: u64,
}
