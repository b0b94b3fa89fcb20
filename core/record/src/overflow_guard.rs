//! [`OverflowGuard`]: how much stored lines may count together, so that no sum of them overflows.

use wavetank_measure::{ConnCounts, Histogram, Interval, RequestCounters, WireCounters};

use crate::journeys_line;

/// The sum of all counts in the lines so far. Code that adds up stored lines must first pass each
/// of them to [`OverflowGuard::admit`]; otherwise bytes from outside could make the sums overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverflowGuard {
    events: u64,
    amounts: u64,
}

impl OverflowGuard {
    /// Limit of requests, connections, times and all other events, each counted as often as it is
    /// reported: the events of ten million requests per second in a month. A comparison draws a
    /// run's fullest bucket some hundred times, which still fits.
    pub const EVENTS_MAX: u64 = 1 << 48;
    /// Limit of bytes, turns of load threads, and nanoseconds of busy time: a month of a large run
    /// with a thousand threads.
    pub const AMOUNTS_MAX: u64 = 1 << 62;

    /// Whether `interval` may be added to the lines admitted so far. If not, it is not counted,
    /// because it exceeds any run.
    #[must_use]
    pub fn admit(&mut self, interval: &Interval) -> bool {
        let sum = |counted: u64, n: u64| counted.saturating_add(n);
        let events = events(interval).fold(self.events, sum);
        let amounts = amounts(interval).fold(self.amounts, sum);
        let fits = events <= Self::EVENTS_MAX && amounts <= Self::AMOUNTS_MAX;
        if fits {
            *self = Self { events, amounts };
        }
        fits
    }
}

/// All numbers that are added up when intervals are merged, but amounts.
fn events(interval: &Interval) -> impl Iterator<Item = u64> + '_ {
    let requests = interval.steps.iter().flat_map(|step| {
        let RequestCounters { offered, sent, done, late, errors, dropped_by } = &step.counters;
        let WireCounters { sent: written, retried, redirected, resources, one_way } = step.wire;
        let wire = [written, retried, redirected, resources, one_way];
        let status = step.status.0.iter().map(|&(_, count)| count);
        let counts = [*offered, *sent, *done, *late, step.open].into_iter().chain(wire).chain(status);
        counts.chain(*errors).chain(*dropped_by).chain([step.response.count(), step.service.count()])
    });
    let phases = interval.phases.iter().flat_map(|phase| {
        [&phase.lag, &phase.wait, &phase.ttfb, &phase.transfer, &phase.failed].map(Histogram::count)
    });
    let targets = interval.targets.iter().flat_map(|target| {
        let handshakes = target.handshakes.complete.iter().map(|&(_, n)| n).chain([target.handshakes.failed]);
        let times = [&target.connect, &target.tls, &target.hello, &target.ping].map(Histogram::count);
        let messages = [target.pings_sent, target.messages.sent, target.messages.received];
        times.into_iter().chain(messages).chain(handshakes)
    });
    let ConnCounts {
        offered,
        opened,
        failed,
        failed_by,
        closed,
        lost,
        lost_by,
        reopened,
        late,
        opening,
        open,
        peak,
    } = interval.conns;
    let conns = [offered, opened, failed, closed, lost, reopened, late, opening, open, peak, interval.users];
    let conns = conns.into_iter().chain(failed_by).chain(lost_by);
    requests.chain(phases).chain(targets).chain(conns).chain(journeys_line::counts(&interval.journeys))
}

fn amounts(interval: &Interval) -> impl Iterator<Item = u64> + '_ {
    let threads = interval.threads.iter().flat_map(|thread| {
        [
            thread.turns,
            thread.stalled_turns,
            thread.starved_turns,
            thread.busy_ns,
            thread.evaluate_ns,
            thread.cpu_ns,
        ]
    });
    let traffic =
        [interval.bytes.sent, interval.bytes.received, interval.packets.sent, interval.packets.lost];
    threads.chain(traffic)
}

#[cfg(test)]
mod tests {
    use wavetank_measure::{StepSeries, ThreadStats};

    use super::*;

    /// Lines that each count `n`, until no more are taken.
    fn check(make: impl Fn(u64) -> Interval, most: u64) {
        let (mut counted, each) = (OverflowGuard::default(), most / 4);
        for line in 0..4 {
            assert!(counted.admit(&make(each)), "line {line}");
        }
        let full = counted;
        assert!(!counted.admit(&make(1)) && !counted.admit(&make(u64::MAX)));
        assert_eq!(counted, full, "what is refused is not taken");
        assert!(counted.admit(&make(0)) && !OverflowGuard::default().admit(&make(most + 1)));
    }

    #[test]
    fn no_more_is_taken_than_fits() {
        let done = |n| RequestCounters { done: n, ..RequestCounters::default() };
        let step = |n| StepSeries { counters: done(n), ..StepSeries::default() };
        check(|n| Interval { steps: vec![step(n)], ..Interval::default() }, OverflowGuard::EVENTS_MAX);
        check(|n| Interval { users: n, ..Interval::default() }, OverflowGuard::EVENTS_MAX);
        let thread = |n| ThreadStats { busy_ns: n, ..ThreadStats::default() };
        check(|n| Interval { threads: vec![thread(n)], ..Interval::default() }, OverflowGuard::AMOUNTS_MAX);
        let mut errors = Interval::default();
        errors.steps.push(StepSeries::default());
        errors.steps[0].counters.errors.fill(OverflowGuard::EVENTS_MAX / 2);
        assert!(!OverflowGuard::default().admit(&errors), "several counts of one line are added up, too");
    }
}
