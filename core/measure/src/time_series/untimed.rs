//! [`CheckpointOnly`]: what only a checkpoint tells of.

use super::cells::StepTotals;
use super::column::TimeBucket;
use super::step_time_series::StepTimeSeries;
use crate::{ConnCounts, Histogram, RequestCounters};

/// What a checkpoint tells beyond the intervals before it, which were lost: no column can have it.
#[derive(Clone, Debug, Default)]
pub(super) struct CheckpointOnly {
    pub(super) column: TimeBucket,
    pub(super) steps: StepTotals,
}

impl CheckpointOnly {
    /// What `whole` tells beyond `known`, of counts and times.
    pub(super) fn column(whole: &TimeBucket, known: &TimeBucket) -> TimeBucket {
        TimeBucket {
            counters: whole.counters.since(&known.counters),
            status: whole.status.since(&known.status),
            wire: whole.wire.since(known.wire),
            response: whole.response.difference(&known.response),
            service: whole.service.difference(&known.service),
            lag: whole.lag.difference(&known.lag),
            wait: whole.wait.difference(&known.wait),
            // Gauges have a place in time, which this has not.
            conns: ConnCounts { opening: 0, open: 0, peak: 0, ..whole.conns.since(known.conns) },
            bytes: whole.bytes.since(known.bytes),
            ..TimeBucket::default()
        }
    }

    /// What `whole` tells of a step beyond `known`.
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

    /// Add to the steps' totals.
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
