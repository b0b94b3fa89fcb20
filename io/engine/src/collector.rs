//! [`Collector`]: the threads' intervals become the host's.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_measure::Interval;
use wavetank_plan::Nanos;

use crate::messages::{Sample, SealedInterval};

/// Merges what load threads seal, off the load threads. An interval of the host is complete when every
/// thread that still runs has sealed it; they come out in order of time.
pub struct Collector {
    running: BTreeSet<u16>,
    partial: BTreeMap<Nanos, Merged>,
}

/// One interval of the host.
#[derive(Debug, Default)]
pub struct Merged {
    /// The counts of all threads.
    pub interval: Interval,
    /// First failures of their class, per thread.
    pub samples: Vec<Sample>,
    /// What does not add up, if anything.
    pub accounting: Vec<String>,
    /// Who has sealed it.
    threads: BTreeSet<u16>,
}

impl Collector {
    /// For `threads` load threads, numbered from 0.
    pub fn new(threads: u16) -> Self {
        Self { running: (0..threads).collect(), partial: BTreeMap::new() }
    }

    /// Take in what one thread sealed.
    pub fn sealed(&mut self, sealed: SealedInterval) {
        let merged = self.partial.entry(sealed.interval.from).or_default();
        let first = merged.threads.is_empty();
        merged.threads.extend(sealed.interval.threads.iter().map(|health| health.thread));
        merged.samples.extend(sealed.samples);
        merged.accounting.extend(sealed.accounting);
        if first {
            merged.interval = sealed.interval;
        } else {
            merged.interval.merge(&sealed.interval);
        }
    }

    /// This thread will seal nothing more.
    pub fn thread_ended(&mut self, thread: u16) {
        self.running.remove(&thread);
    }

    /// Whether threads still run, or intervals wait to be polled.
    pub fn is_over(&self) -> bool {
        self.running.is_empty() && self.partial.is_empty()
    }

    /// The next complete interval.
    pub fn poll(&mut self) -> Option<Merged> {
        let first = self.partial.first_entry()?;
        first.get().threads.is_superset(&self.running).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use wavetank_measure::ThreadHealth;

    use super::*;

    fn sealed(thread: u16, second: i64) -> SealedInterval {
        let interval = Interval {
            from: Nanos::from_secs(second),
            len: Nanos::SECOND,
            users: 1,
            threads: vec![ThreadHealth { thread, ..ThreadHealth::default() }],
            ..Interval::default()
        };
        SealedInterval { interval, samples: Vec::new(), accounting: None }
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
}
