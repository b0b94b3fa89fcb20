//! [`Untimed`]: what only a checkpoint tells of.

use super::cells::StepTotals;
use super::column::Column;
use super::step_course::StepCourse;
use crate::{Bytes, ConnCounts, Counters, Histogram, StatusCounts, Wire};

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
            counters: counters(&whole.counters, &known.counters),
            status: status(&whole.status, &known.status),
            wire: wire(whole.wire, known.wire),
            response: whole.response.since(&known.response),
            service: whole.service.since(&known.service),
            lag: whole.lag.since(&known.lag),
            wait: whole.wait.since(&known.wait),
            conns: conns(whole.conns, known.conns),
            bytes: Bytes {
                sent: whole.bytes.sent.saturating_sub(known.bytes.sent),
                received: whole.bytes.received.saturating_sub(known.bytes.received),
            },
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
            Some(known) => (counters(&whole.0, &known.0), whole.1.since(&known.1)),
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

/// A checkpoint holds everything before it, so that nothing is ever less; one that does is damaged, and tells of nothing more.
fn counters(whole: &Counters, known: &Counters) -> Counters {
    let mut more = whole.clone();
    more.offered = more.offered.saturating_sub(known.offered);
    more.sent = more.sent.saturating_sub(known.sent);
    more.done = more.done.saturating_sub(known.done);
    more.late = more.late.saturating_sub(known.late);
    more.errors.iter_mut().zip(known.errors).for_each(|(more, known)| *more = more.saturating_sub(known));
    more.dropped_by
        .iter_mut()
        .zip(known.dropped_by)
        .for_each(|(more, known)| *more = more.saturating_sub(known));
    more
}

fn status(whole: &StatusCounts, known: &StatusCounts) -> StatusCounts {
    let more = whole.0.iter().map(|&(status, n)| (status, n.saturating_sub(known.get(status))));
    StatusCounts(more.filter(|&(_, n)| n > 0).collect())
}

fn wire(whole: Wire, known: Wire) -> Wire {
    Wire {
        sent: whole.sent.saturating_sub(known.sent),
        retried: whole.retried.saturating_sub(known.retried),
        redirected: whole.redirected.saturating_sub(known.redirected),
        resources: whole.resources.saturating_sub(known.resources),
    }
}

fn conns(whole: ConnCounts, known: ConnCounts) -> ConnCounts {
    ConnCounts {
        offered: whole.offered.saturating_sub(known.offered),
        opened: whole.opened.saturating_sub(known.opened),
        failed: whole.failed.saturating_sub(known.failed),
        closed: whole.closed.saturating_sub(known.closed),
        lost: whole.lost.saturating_sub(known.lost),
        reopened: whole.reopened.saturating_sub(known.reopened),
        late: whole.late.saturating_sub(known.late),
        ..ConnCounts::default()
    }
}
