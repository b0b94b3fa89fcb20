//! The `since` methods: the difference between a later sum and an earlier one that it contains. A
//! checkpoint uses it to restore the counts of intervals that were lost before it.
//!
//! Every counter is listed explicitly, so a new counter does not compile until it is added here. A
//! later sum contains the earlier one, so no count decreases. A count that does decrease means
//! damaged bytes; its difference is 0.

use crate::{
    Bytes, ConnCounts, Handshakes, Interval, PhaseSeries, RequestCounters, SessionCounts, SessionSeries,
    StatusCounts, StepSeries, TargetSeries, WireCounters,
};

fn less<const N: usize>(counts: [u64; N], earlier: &[u64; N]) -> [u64; N] {
    let mut left = counts;
    left.iter_mut().zip(earlier).for_each(|(count, before)| *count = count.saturating_sub(*before));
    left
}

impl RequestCounters {
    /// Returns what was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { offered, sent, done, late, errors, dropped_by } = *earlier;
        Self {
            offered: self.offered.saturating_sub(offered),
            sent: self.sent.saturating_sub(sent),
            done: self.done.saturating_sub(done),
            late: self.late.saturating_sub(late),
            errors: less(self.errors, &errors),
            dropped_by: less(self.dropped_by, &dropped_by),
        }
    }
}

impl StatusCounts {
    /// Returns what was counted since `earlier`, without entries of zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let left = self.0.iter().map(|&(status, n)| (status, n.saturating_sub(earlier.get(status))));
        Self(left.filter(|&(_, n)| n > 0).collect())
    }
}

impl WireCounters {
    /// Returns what was counted since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        let Self { sent, retried, redirected, resources, one_way } = earlier;
        Self {
            sent: self.sent.saturating_sub(sent),
            retried: self.retried.saturating_sub(retried),
            redirected: self.redirected.saturating_sub(redirected),
            resources: self.resources.saturating_sub(resources),
            one_way: self.one_way.saturating_sub(one_way),
        }
    }
}

impl ConnCounts {
    /// Returns what was counted since `earlier`. The gauges `opening`, `open` and `peak` keep their
    /// later values.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let Self { offered, opened, failed, failed_by, closed, lost, lost_by, reopened, late, .. } = earlier;
        Self {
            offered: self.offered.saturating_sub(offered),
            opened: self.opened.saturating_sub(opened),
            failed: self.failed.saturating_sub(failed),
            failed_by: less(self.failed_by, &failed_by),
            closed: self.closed.saturating_sub(closed),
            lost: self.lost.saturating_sub(lost),
            lost_by: less(self.lost_by, &lost_by),
            reopened: self.reopened.saturating_sub(reopened),
            late: self.late.saturating_sub(late),
            opening: self.opening,
            open: self.open,
            peak: self.peak,
        }
    }
}

impl Bytes {
    /// Returns what was counted since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        let Self { sent, received } = earlier;
        Self { sent: self.sent.saturating_sub(sent), received: self.received.saturating_sub(received) }
    }
}

impl Handshakes {
    /// Returns what was counted since `earlier`, without entries of zero.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { complete, failed } = earlier;
        let known = |agreed| complete.iter().find(|(known, _)| known == agreed).map_or(0, |(_, n)| *n);
        let left = self.complete.iter().map(|(agreed, n)| (agreed.clone(), n.saturating_sub(known(agreed))));
        Self { complete: left.filter(|&(_, n)| n > 0).collect(), failed: self.failed.saturating_sub(*failed) }
    }
}

impl SessionCounts {
    /// Returns what was counted since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { offered, started, done, failed, dropped_by } = *earlier;
        Self {
            offered: self.offered.saturating_sub(offered),
            started: self.started.saturating_sub(started),
            done: self.done.saturating_sub(done),
            failed: self.failed.saturating_sub(failed),
            dropped_by: less(self.dropped_by, &dropped_by),
        }
    }
}

impl SessionSeries {
    /// Returns what was counted since `earlier`, which has the same sessions. The gauge keeps its
    /// later value.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { phase: _, scenario: _, counts, open: _ } = earlier;
        Self { counts: self.counts.since(counts), ..*self }
    }
}

impl StepSeries {
    /// Returns what was counted and timed since `earlier`, which has the same key. The gauge keeps
    /// its later value.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { key: _, counters, open: _, status, wire, response, service } = earlier;
        Self {
            key: self.key,
            counters: self.counters.since(counters),
            open: self.open,
            status: self.status.since(status),
            wire: self.wire.since(*wire),
            response: self.response.difference(response),
            service: self.service.difference(service),
        }
    }
}

impl PhaseSeries {
    /// Returns the times since `earlier`, which has the same phase.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { phase: _, lag, wait, ttfb, transfer, failed } = earlier;
        Self {
            phase: self.phase,
            lag: self.lag.difference(lag),
            wait: self.wait.difference(wait),
            ttfb: self.ttfb.difference(ttfb),
            transfer: self.transfer.difference(transfer),
            failed: self.failed.difference(failed),
        }
    }
}

impl TargetSeries {
    /// Returns what was counted and timed since `earlier`, which has the same target and phase.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self { phase: _, target: _, connect, tls, handshakes, hello, ping, pings_sent, messages } =
            earlier;
        Self {
            phase: self.phase,
            target: self.target,
            connect: self.connect.difference(connect),
            tls: self.tls.difference(tls),
            handshakes: self.handshakes.since(handshakes),
            hello: self.hello.difference(hello),
            ping: self.ping.difference(ping),
            pings_sent: self.pings_sent.saturating_sub(*pings_sent),
            messages: self.messages.since(*messages),
        }
    }
}

impl Interval {
    /// Returns what this sum of intervals adds to the sum `earlier`, which it contains. Counts and
    /// times are differences; gauges keep their later values. The result has no start and no
    /// length. Load threads are left out, and of the journey counters everything except sessions.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let Self {
            from: _,
            len: _,
            steps,
            phases,
            targets,
            conns,
            bytes,
            packets,
            users: _,
            threads: _,
            journeys,
        } = earlier;
        let step = |series: &StepSeries| {
            let before = steps.iter().find(|before| before.key == series.key);
            before.map_or_else(|| series.clone(), |before| series.since(before))
        };
        let phase = |series: &PhaseSeries| {
            let before = phases.iter().find(|before| before.phase == series.phase);
            before.map_or_else(|| series.clone(), |before| series.since(before))
        };
        let target = |series: &TargetSeries| {
            let same =
                |before: &&TargetSeries| (before.phase, before.target) == (series.phase, series.target);
            targets.iter().find(same).map_or_else(|| series.clone(), |before| series.since(before))
        };
        let sessions = |series: &SessionSeries| {
            let same =
                |before: &&SessionSeries| (before.phase, before.scenario) == (series.phase, series.scenario);
            journeys.sessions.iter().find(same).map_or(*series, |before| series.since(before))
        };
        let mut left = Self {
            steps: self.steps.iter().map(step).collect(),
            phases: self.phases.iter().map(phase).collect(),
            targets: self.targets.iter().map(target).collect(),
            conns: self.conns.since(*conns),
            bytes: self.bytes.since(*bytes),
            packets: self.packets.since(*packets),
            users: self.users,
            ..Self::default()
        };
        left.journeys.sessions = self.journeys.sessions.iter().map(sessions).collect();
        left
    }
}

#[cfg(test)]
mod tests {
    use crate::{HandshakeParams, Histogram, PacketCounters};

    use super::*;

    /// An interval in which every count is another one, all of them from `n` on.
    fn interval(n: u64) -> Interval {
        let mut next = n;
        let mut count = || {
            next += 1;
            next
        };
        let times = |ns: u64| {
            let mut times = Histogram::default();
            times.record_n(ns, n + ns);
            times
        };
        let mut interval = Interval { users: 3, ..Interval::default() };
        let mut step = StepSeries { open: 5, ..StepSeries::default() };
        let counters = &mut step.counters;
        (counters.offered, counters.sent, counters.done, counters.late) =
            (count(), count(), count(), count());
        counters.errors.iter_mut().chain(&mut counters.dropped_by).for_each(|it| *it = count());
        step.status = StatusCounts(vec![(200, count()), (500, count())]);
        step.wire = WireCounters {
            sent: count(),
            retried: count(),
            redirected: count(),
            resources: count(),
            one_way: count(),
        };
        (step.response, step.service) = (times(1), times(2));
        interval.steps.push(step);
        interval.phases.push(PhaseSeries {
            phase: 0,
            lag: times(3),
            wait: times(4),
            ttfb: times(5),
            transfer: times(6),
            failed: times(7),
        });
        let mut target = TargetSeries { connect: times(8), tls: times(9), ..TargetSeries::default() };
        target.handshakes.add(&HandshakeParams { resumed: true, ..HandshakeParams::default() }, count());
        target.handshakes.failed = count();
        interval.targets.push(target);
        let conns = &mut interval.conns;
        (conns.offered, conns.opened, conns.failed, conns.closed) = (count(), count(), count(), count());
        (conns.lost, conns.reopened, conns.late) = (count(), count(), count());
        conns.failed_by.iter_mut().chain(&mut conns.lost_by).for_each(|it| *it = count());
        interval.bytes = Bytes { sent: count(), received: count() };
        interval.packets = PacketCounters { sent: count(), lost: count() };
        let sessions = &mut interval.journeys.sessions_mut(0, 1).counts;
        (sessions.offered, sessions.started, sessions.done, sessions.failed) =
            (count(), count(), count(), count());
        sessions.dropped_by.iter_mut().for_each(|it| *it = count());
        interval
    }

    #[test]
    fn what_was_added_is_what_is_new() {
        let (first, second) = (interval(100), interval(3_000));
        let mut both = first.clone();
        both.merge(&second);
        both.users = second.users;
        both.steps[0].open = second.steps[0].open;
        assert_eq!(both.since(&first), second);
        assert_eq!(both.since(&Interval::default()), both, "of what was not there before, all is new");
        assert_eq!(
            first.since(&both).steps[0].counters,
            RequestCounters::default(),
            "never less than nothing"
        );
    }
}
