//! [`OpenedRun::read_stretches`]: a run's intervals for views that cannot take back what they have told.

use std::ops::ControlFlow;

use wavetank_measure::{ConnCounts, Counters, Interval, PhaseSeries, StepSeries, TargetSeries};
use wavetank_plan::{Nanos, UserError};

use crate::cumulative::Cumulative;
use crate::{OpenedRun, ReadReport, Sealed};

impl OpenedRun {
    /// Hand every stretch of time that something is known of to `visit`, with the name of its agent, in the order of
    /// [`read_intervals`](Self::read_intervals), until it has had enough. Where intervals were lost, the next checkpoint
    /// tells what was in them: they come as one stretch, after those that were read meanwhile. Added up, requests,
    /// connections and times are the same as in the totals of the run; such a stretch leaves out load threads, and of
    /// journeys all but sessions.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_stretches(
        &self,
        mut visit: impl FnMut(&str, &Interval) -> ControlFlow<()>,
    ) -> Result<ReadReport, UserError> {
        let mut known = Known::default();
        self.read_intervals_until(|first, sealed| {
            if first {
                known = Known::default();
            }
            match sealed {
                Sealed::Next(line) => {
                    known.add(&line.interval);
                    visit(&line.agent, &line.interval)
                }
                Sealed::Instead(line) => {
                    let lost = known.replace(line.interval.clone());
                    visit(&line.agent, &lost)
                }
            }
        })
    }
}

/// What one agent has told so far.
#[derive(Default)]
struct Known {
    sum: Cumulative,
    /// Where its first interval begins.
    begin: Option<Nanos>,
    /// Where its latest interval ends.
    end: Option<Nanos>,
    /// From where to where intervals are missing since the last checkpoint that stood for them.
    gap: Option<(Nanos, Nanos)>,
}

impl Known {
    fn add(&mut self, interval: &Interval) {
        self.reach(interval.from);
        self.begin.get_or_insert(interval.from);
        self.end = Some(interval.end());
        self.sum.add(interval);
    }

    /// Whatever lies between the latest interval and `at` is missing.
    fn reach(&mut self, at: Nanos) {
        if let Some(end) = self.end.filter(|end| *end < at) {
            let from = self.gap.map_or(end, |(from, _)| from);
            self.gap = Some((from, at));
        }
    }

    /// `all` tells everything so far: gives back what was not known of it.
    fn replace(&mut self, all: Interval) -> Interval {
        self.reach(all.end());
        let begin = self.begin.unwrap_or(all.end());
        let (mut from, until) = self.gap.take().unwrap_or((begin, begin));
        if all.from < begin {
            from = all.from;
            self.begin = Some(from);
        }
        let mut lost = since(&all, self.sum.sum());
        (lost.from, lost.len) = (from, until - from);
        self.end = Some(self.end.map_or(all.end(), |end| end.max(all.end())));
        self.sum = Cumulative::beginning_with(all);
        lost
    }
}

/// What `all` has beyond `earlier`; gauges are those of `all`.
fn since(all: &Interval, earlier: &Interval) -> Interval {
    let steps = all.steps.iter().map(|series| {
        let before = earlier.steps.iter().find(|before| before.key == series.key);
        before.map_or_else(|| series.clone(), |before| step_since(series, before))
    });
    let phases = all.phases.iter().map(|series| {
        let before = earlier.phases.iter().find(|before| before.phase == series.phase);
        before.map_or_else(|| series.clone(), |before| phase_since(series, before))
    });
    let targets = all.targets.iter().map(|series| {
        let same = |before: &&TargetSeries| (before.phase, before.target) == (series.phase, series.target);
        earlier.targets.iter().find(same).map_or_else(
            || series.clone(),
            |before| TargetSeries {
                connect: series.connect.since(&before.connect),
                tls: series.tls.since(&before.tls),
                ..series.clone()
            },
        )
    });
    let mut lost = Interval {
        steps: steps.collect(),
        phases: phases.collect(),
        targets: targets.collect(),
        conns: conns_since(all.conns, earlier.conns),
        users: all.users,
        ..Interval::default()
    };
    lost.bytes.sent = all.bytes.sent.saturating_sub(earlier.bytes.sent);
    lost.bytes.received = all.bytes.received.saturating_sub(earlier.bytes.received);
    for series in &all.journeys.sessions {
        let mine = lost.journeys.sessions_mut(series.phase, series.scenario);
        *mine = *series;
        let same = (series.phase, series.scenario);
        let before = earlier.journeys.sessions.iter().find(|before| (before.phase, before.scenario) == same);
        if let Some(before) = before {
            mine.counts.offered = series.counts.offered.saturating_sub(before.counts.offered);
            mine.counts.started = series.counts.started.saturating_sub(before.counts.started);
            mine.counts.done = series.counts.done.saturating_sub(before.counts.done);
            mine.counts.failed = series.counts.failed.saturating_sub(before.counts.failed);
            less(&mut mine.counts.dropped_by, &before.counts.dropped_by);
        }
    }
    lost
}

fn step_since(all: &StepSeries, earlier: &StepSeries) -> StepSeries {
    let Counters { offered, sent, done, late, mut errors, mut dropped_by } = all.counters.clone();
    less(&mut errors, &earlier.counters.errors);
    less(&mut dropped_by, &earlier.counters.dropped_by);
    let mut step = StepSeries {
        key: all.key,
        counters: Counters {
            offered: offered.saturating_sub(earlier.counters.offered),
            sent: sent.saturating_sub(earlier.counters.sent),
            done: done.saturating_sub(earlier.counters.done),
            late: late.saturating_sub(earlier.counters.late),
            errors,
            dropped_by,
        },
        open: all.open,
        status: all.status.clone(),
        wire: all.wire,
        response: all.response.since(&earlier.response),
        service: all.service.since(&earlier.service),
    };
    for (status, n) in &mut step.status.0 {
        *n = n.saturating_sub(earlier.status.get(*status));
    }
    step.status.0.retain(|&(_, n)| n > 0);
    step.wire.sent = step.wire.sent.saturating_sub(earlier.wire.sent);
    step.wire.retried = step.wire.retried.saturating_sub(earlier.wire.retried);
    step.wire.redirected = step.wire.redirected.saturating_sub(earlier.wire.redirected);
    step.wire.resources = step.wire.resources.saturating_sub(earlier.wire.resources);
    step
}

fn phase_since(all: &PhaseSeries, earlier: &PhaseSeries) -> PhaseSeries {
    PhaseSeries {
        phase: all.phase,
        lag: all.lag.since(&earlier.lag),
        wait: all.wait.since(&earlier.wait),
        ttfb: all.ttfb.since(&earlier.ttfb),
        transfer: all.transfer.since(&earlier.transfer),
        failed: all.failed.since(&earlier.failed),
    }
}

const fn conns_since(all: ConnCounts, earlier: ConnCounts) -> ConnCounts {
    ConnCounts {
        offered: all.offered.saturating_sub(earlier.offered),
        opened: all.opened.saturating_sub(earlier.opened),
        failed: all.failed.saturating_sub(earlier.failed),
        closed: all.closed.saturating_sub(earlier.closed),
        lost: all.lost.saturating_sub(earlier.lost),
        reopened: all.reopened.saturating_sub(earlier.reopened),
        late: all.late.saturating_sub(earlier.late),
        opening: all.opening,
        open: all.open,
        peak: all.peak,
    }
}

fn less<const N: usize>(counts: &mut [u64; N], earlier: &[u64; N]) {
    counts.iter_mut().zip(earlier).for_each(|(count, before)| *count = count.saturating_sub(*before));
}
