//! [`Collector`]: merges the intervals of load threads into intervals of the host.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_measure::{ErrorClass, Interval};
use wavetank_plan::Key;
use wavetank_units::Nanos;

use crate::messages::{LogLine, Sample, SealedInterval, SlowSample};

/// Merges the sealed intervals of load threads, outside those threads.
///
/// An interval of the host is complete when every thread that still runs has sealed it. Complete
/// intervals are returned in order of time.
pub struct Collector {
    running: BTreeSet<u16>,
    partial: BTreeMap<Nanos, HostInterval>,
    /// The gauges of each thread at its last seal, unless it was lost.
    held: BTreeMap<u16, ThreadGauges>,
    /// The gauges of threads that were lost, until an interval has reported the loss.
    orphaned: Vec<ThreadGauges>,
}

/// Gauges of one thread when it sealed an interval.
#[derive(Debug, Default)]
struct ThreadGauges {
    /// Start of the interval.
    from: Nanos,
    opening: u64,
    open: u64,
    /// Requests in flight.
    requests: Vec<(Key, u64)>,
    /// Sessions in progress, by phase and scenario.
    sessions: Vec<((u16, u16), u64)>,
}

impl ThreadGauges {
    fn of(interval: &Interval) -> Self {
        let requests = interval.steps.iter().filter(|series| series.open > 0);
        let sessions = interval.journeys.sessions.iter().filter(|series| series.open > 0);
        Self {
            from: interval.from,
            opening: interval.conns.opening,
            open: interval.conns.open,
            requests: requests.map(|series| (series.key, series.open)).collect(),
            sessions: sessions.map(|series| ((series.phase, series.scenario), series.open)).collect(),
        }
    }

    /// Adds what the thread left open at its end to a later interval of other threads.
    fn keep(&self, interval: &mut Interval) {
        interval.conns.opening += self.opening;
        interval.conns.open += self.open;
        for &(key, count) in &self.requests {
            interval.step_mut(key).open += count;
        }
        for &((phase, scenario), count) in &self.sessions {
            interval.journeys.sessions_mut(phase, scenario).open += count;
        }
    }

    /// Counts the loss of everything the thread held: its connections as lost, its requests and
    /// sessions as failed.
    fn lose(&self, interval: &mut Interval) {
        interval.conns.failed += self.opening;
        interval.conns.failed_by[ErrorClass::Other as usize] += self.opening;
        interval.conns.lost += self.open;
        interval.conns.lost_by[ErrorClass::Other as usize] += self.open;
        for &(key, count) in &self.requests {
            interval.step_mut(key).counters.errors[ErrorClass::Other as usize] += count;
        }
        for &((phase, scenario), count) in &self.sessions {
            interval.journeys.sessions_mut(phase, scenario).counts.failed += count;
        }
    }
}

/// One interval of the host.
#[derive(Debug, Default)]
pub struct HostInterval {
    /// The counts of all threads.
    pub interval: Interval,
    /// First failure of each class and step, per thread.
    pub samples: Vec<Sample>,
    /// The lines that journeys logged, and the number of further lines.
    pub logs: (Vec<LogLine>, u64),
    /// Responses that have become some of the slowest of their step, per thread.
    pub slow: Vec<SlowSample>,
    /// Inconsistencies in the counters, if any.
    pub accounting: Vec<String>,
    /// The threads that have sealed it.
    threads: BTreeSet<u16>,
}

impl Collector {
    /// Creates a collector for `threads` load threads, numbered from 0.
    pub fn new(threads: u16) -> Self {
        Self {
            running: (0..threads).collect(),
            partial: BTreeMap::new(),
            held: BTreeMap::new(),
            orphaned: Vec::new(),
        }
    }

    /// Adds the interval that one thread sealed.
    pub fn sealed(&mut self, sealed: SealedInterval) {
        for health in &sealed.interval.threads {
            self.held.insert(health.thread, ThreadGauges::of(&sealed.interval));
        }
        let merged = self.partial.entry(sealed.interval.from).or_default();
        let first = merged.threads.is_empty();
        merged.threads.extend(sealed.interval.threads.iter().map(|health| health.thread));
        merged.samples.extend(sealed.samples);
        merged.logs.0.extend(sealed.logs);
        merged.logs.1 += sealed.logs_untold;
        merged.slow.extend(sealed.slow);
        merged.accounting.extend(sealed.accounting);
        if first {
            merged.interval = sealed.interval;
        } else {
            merged.interval.merge(&sealed.interval);
        }
    }

    /// Records that this thread has ended and will seal nothing more.
    pub fn thread_ended(&mut self, thread: u16) {
        self.running.remove(&thread);
    }

    /// Records that a thread was lost before its end. What it held is reported as lost with the
    /// next interval.
    pub fn thread_lost(&mut self, thread: u16) {
        self.running.remove(&thread);
        self.orphaned.extend(self.held.remove(&thread));
    }

    /// Whether all threads have ended and all intervals were polled.
    pub fn is_over(&self) -> bool {
        self.running.is_empty() && self.partial.is_empty()
    }

    /// Returns the next complete interval.
    pub fn poll(&mut self) -> Option<HostInterval> {
        let first = self.partial.first_entry()?;
        if !first.get().threads.is_superset(&self.running) {
            return None;
        }
        let mut merged = first.remove();
        for (thread, held) in &self.held {
            if !self.running.contains(thread) && held.from < merged.interval.from {
                held.keep(&mut merged.interval);
            }
        }
        self.orphaned.retain(|held| {
            // In the interval that the thread sealed itself, the connections and requests were
            // still open.
            let later = held.from < merged.interval.from;
            if later {
                held.lose(&mut merged.interval);
            }
            !later
        });
        Some(merged)
    }
}

#[cfg(test)]
mod tests {
    use wavetank_measure::ThreadStats;

    use super::*;

    fn sealed(thread: u16, second: i64) -> SealedInterval {
        let interval = Interval {
            from: Nanos::from_secs(second),
            len: Nanos::SECOND,
            users: 1,
            threads: vec![ThreadStats { thread, ..ThreadStats::default() }],
            ..Interval::default()
        };
        let (samples, slow, logs) = (Vec::new(), Vec::new(), Vec::new());
        SealedInterval { interval, samples, logs, logs_untold: 0, slow, accounting: None }
    }

    #[test]
    fn an_interval_is_complete_when_every_thread_sealed_it() {
        let mut collector = Collector::new(2);
        collector.sealed(sealed(0, 0));
        collector.sealed(sealed(0, 1));
        collector.thread_ended(0);
        assert!(collector.poll().is_none(), "thread 1 still owes second 0");
        collector.sealed(sealed(1, 0));
        let merged = collector.poll().expect("both sealed second 0");
        assert_eq!((merged.interval.from, merged.interval.users), (Nanos::ZERO, 2));
        assert!(collector.poll().is_none());
        collector.thread_ended(1);
        assert_eq!(collector.poll().map(|merged| merged.interval.users), Some(1));
        assert!(collector.poll().is_none() && collector.is_over());
    }

    #[test]
    fn what_a_lost_thread_held_is_reported_once_and_after_it_was_held() {
        let mut collector = Collector::new(2);
        for second in 0..3 {
            collector.sealed(sealed(0, second));
        }
        let mut held = sealed(1, 0);
        (held.interval.conns.open, held.interval.conns.opening) = (7, 2);
        held.interval.step_mut(Key::default()).open = 5;
        held.interval.journeys.sessions_mut(1, 0).open = 4;
        collector.sealed(held);
        collector.thread_lost(1);
        let first = collector.poll().expect("both sealed second 0").interval;
        assert_eq!((first.conns.open, first.conns.lost, first.conns.failed), (7, 0, 0));
        let second = collector.poll().expect("the other sealed second 1").interval;
        assert_eq!((second.conns.open, second.conns.lost, second.conns.failed), (0, 7, 2));
        assert_eq!(second.steps[0].counters.failed(), 5);
        assert_eq!(second.journeys.sessions[0].counts.failed, 4);
        let third = collector.poll().expect("the other sealed second 2").interval;
        assert_eq!((third.conns.lost, third.steps.len(), third.journeys.is_empty()), (0, 0, true));
    }

    /// A thread that heard of the end late seals one interval more than the others.
    #[test]
    fn what_an_ended_thread_left_open_stays_open_in_later_intervals() {
        let mut collector = Collector::new(2);
        let mut left = sealed(0, 0);
        (left.interval.conns.open, left.interval.conns.opening) = (3, 1);
        left.interval.step_mut(Key::default()).open = 5;
        left.interval.journeys.sessions_mut(1, 0).open = 4;
        collector.sealed(left);
        collector.thread_ended(0);
        for second in 0..2 {
            let mut own = sealed(1, second);
            own.interval.step_mut(Key::default()).open = 2;
            collector.sealed(own);
        }
        collector.thread_ended(1);
        for second in 0..2 {
            let merged = collector.poll().expect("a second").interval;
            assert_eq!((merged.steps[0].open, merged.journeys.sessions[0].open), (7, 4), "second {second}");
            assert_eq!((merged.conns.open, merged.conns.opening), (3, 1), "second {second}");
        }
        assert!(collector.is_over());
    }
}
