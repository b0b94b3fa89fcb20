//! [`Untimed`]: what only a checkpoint tells of.

use super::cells::StepTotals;
use super::column::Column;
use super::step_course::StepCourse;
use crate::{ConnCounts, Counters, Histogram};

/// What a checkpoint tells beyond the intervals before it, which were lost: no column can have it.
#[derive(Clone, Debug, Default)]
pub(super) struct Untimed {
    pub(super) column: Column,
    pub(super) steps: StepTotals,
}

impl Untimed {
    /// What `whole` tells beyond `known`, of counts and times.
    pub(super) fn column(whole: &Column, known: &Column) -> Column {
        Column {
            counters: whole.counters.since(&known.counters),
            status: whole.status.since(&known.status),
            wire: whole.wire.since(known.wire),
            response: whole.response.since(&known.response),
            service: whole.service.since(&known.service),
            lag: whole.lag.since(&known.lag),
            wait: whole.wait.since(&known.wait),
            // Gauges have a place in time, which this has not.
            conns: ConnCounts { opening: 0, open: 0, peak: 0, ..whole.conns.since(known.conns) },
            bytes: whole.bytes.since(known.bytes),
            ..Column::default()
        }
    }

    /// What `whole` tells of a step beyond `known`.
    pub(super) fn step(
        whole: &(Counters, Histogram),
        known: Option<&(Counters, Histogram)>,
    ) -> (Counters, Histogram) {
        match known {
            None => whole.clone(),
            Some(known) => (whole.0.since(&known.0), whole.1.since(&known.1)),
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
    pub(super) fn add_to(self, courses: &mut Vec<StepCourse>) -> Column {
        for ((scenario, step), (counters, response)) in self.steps {
            let known =
                courses.binary_search_by_key(&(scenario, step), |course| (course.scenario, course.step));
            let at = known.unwrap_or_else(|at| {
                courses.insert(at, StepCourse { scenario, step, ..StepCourse::default() });
                at
            });
            courses[at].counters.merge(&counters);
            courses[at].response.merge(&response);
        }
        self.column
    }
}
