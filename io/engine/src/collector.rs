//! [`Collector`]: the threads' intervals become the host's.

use std::collections::BTreeMap;

use wavetank_measure::Interval;
use wavetank_plan::Nanos;

use crate::messages::{Sample, SealedInterval};

/// Merges what load threads seal, off the load threads. An interval of the host is complete when every
/// thread that still runs has sealed it; they come out in order of time.
pub struct Collector {
    running: usize,
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
    threads: usize,
}

impl Collector {
    /// For `threads` load threads.
    pub const fn new(threads: usize) -> Self {
        Self { running: threads, partial: BTreeMap::new() }
    }

    /// Take in what one thread sealed.
    pub fn sealed(&mut self, sealed: SealedInterval) {
        let merged = self.partial.entry(sealed.interval.from).or_default();
        merged.threads += 1;
        merged.samples.extend(sealed.samples);
        merged.accounting.extend(sealed.accounting);
        if merged.threads == 1 {
            merged.interval = sealed.interval;
        } else {
            merged.interval.merge(&sealed.interval);
        }
    }

    /// A thread will seal nothing more.
    pub fn thread_ended(&mut self) {
        self.running -= 1;
    }

    /// Whether threads still run.
    pub const fn any_running(&self) -> bool {
        self.running > 0
    }

    /// The next complete interval.
    pub fn poll(&mut self) -> Option<Merged> {
        let first = self.partial.first_entry()?;
        (first.get().threads >= self.running).then(|| first.remove())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(second: i64) -> SealedInterval {
        let interval =
            Interval { from: Nanos::from_secs(second), len: Nanos::SECOND, users: 1, ..Interval::default() };
        SealedInterval { interval, samples: Vec::new(), accounting: None }
    }

    #[test]
    fn an_interval_is_complete_when_every_thread_sealed_it() {
        let mut collector = Collector::new(2);
        collector.sealed(sealed(0));
        collector.sealed(sealed(1));
        assert!(collector.poll().is_none());
        collector.sealed(sealed(0));
        let merged = collector.poll().expect("both sealed second 0");
        assert_eq!((merged.interval.from, merged.interval.users), (Nanos::ZERO, 2));
        assert!(collector.poll().is_none());
        collector.thread_ended();
        assert_eq!(collector.poll().map(|merged| merged.interval.users), Some(1));
        collector.thread_ended();
        assert!(collector.poll().is_none() && !collector.any_running());
    }
}
