//! [`CheckpointOnly`]: data that only a checkpoint contains.

use super::cells::StepTotals;
use super::column::TimeBucket;
use super::step_time_series::StepTimeSeries;
use crate::{ConnCounts, Histogram, RequestCounters};

/// What a checkpoint contains in addition to the intervals before it, because those were lost. It
/// fits into no bucket.
#[derive(Clone, Debug, Default)]
pub(super) struct CheckpointOnly {
    pub(super) column: TimeBucket,
    pub(super) steps: StepTotals,
}

impl CheckpointOnly {
    /// Returns the counts and times of `whole` that are not in `known`.
    pub(super) fn column(whole: &TimeBucket, known: &TimeBucket) -> TimeBucket {
        TimeBucket {
            counters: whole.counters.since(&known.counters),
            status: whole.status.since(&known.status),
            wire: whole.wire.since(known.wire),
            response: whole.response.difference(&known.response),
            service: whole.service.difference(&known.service),
            lag: whole.lag.difference(&known.lag),
            wait: whole.wait.difference(&known.wait),
            // Gauges belong to an instant, and this sum has none.
            conns: ConnCounts { opening: 0, open: 0, peak: 0, ..whole.conns.since(known.conns) },
            bytes: whole.bytes.since(known.bytes),
            packets: whole.packets.since(known.packets),
            ..TimeBucket::default()
        }
    }

    /// Returns the part of a step in `whole` that is not in `known`.
    pub(super) fn step(
        whole: &(RequestCounters, Histogram),
        known: Option<&(RequestCounters, Histogram)>,
    ) -> (RequestCounters, Histogram) {
        match known {
            None => whole.clone(),
            Some(known) => (whole.0.since(&known.0), whole.1.difference(&known.1)),
        }
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.column.merge(&other.column);
        for (&name, (counters, response)) in &other.steps {
            let mine = self.steps.entry(name).or_default();
            mine.0.merge(counters);
            mine.1.merge(response);
        }
    }

    /// Adds to the steps' totals.
    pub(super) fn add_to(self, courses: &mut Vec<StepTimeSeries>) -> TimeBucket {
        for ((scenario, step), (counters, response)) in self.steps {
            let known =
                courses.binary_search_by_key(&(scenario, step), |course| (course.scenario, course.step));
            let at = known.unwrap_or_else(|at| {
                courses.insert(at, StepTimeSeries { scenario, step, ..StepTimeSeries::default() });
                at
            });
            courses[at].counters.merge(&counters);
            courses[at].response.merge(&response);
        }
        self.column
    }
}
