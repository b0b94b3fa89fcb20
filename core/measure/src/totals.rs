//! [`Totals`]: everything sealed so far, added up.

use wavetank_plan::{Key, Nanos, Plan};

use crate::{
    Bytes, ConnCounts, Counters, Interval, PhaseSeries, Selection, Spans, StepSeries, TargetSeries, ThreadHealth, View,
    Violation,
};

/// Everything sealed so far, added up: counters and histograms per key, phase and target (warm-up among
/// them, told apart by its phase), gauges of the latest seal. A pure function of the intervals, so an
/// archive read back gives the same totals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Totals {
    /// Requests per key; `open` is the gauge of the latest seal.
    pub steps: Vec<StepSeries>,
    /// Times per phase.
    pub phases: Vec<PhaseSeries>,
    /// Connection set-up per (phase, target).
    pub targets: Vec<TargetSeries>,
    /// Connections of the whole run; `opening` and `open` of the latest seal, `peak` the highest.
    pub conns: ConnCounts,
    /// Fewest connections open at a seal of the measured window; `None` before its first.
    pub held_min: Option<u64>,
    /// Traffic after the warm-up.
    pub bytes: Bytes,
    /// Traffic of the warm-up.
    pub bytes_warmup: Bytes,
    /// Each load thread, over the whole run.
    pub threads: Vec<ThreadHealth>,
    /// End of the latest interval.
    pub sealed: Nanos,
    /// Intervals added.
    pub intervals: u64,
    in_window: Vec<(Key, Counters)>,
    spans: Spans,
}

impl Totals {
    /// Nothing yet, of `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self { spans: Spans::new(plan), sealed: Nanos(i64::MIN), ..Self::default() }
    }
}
