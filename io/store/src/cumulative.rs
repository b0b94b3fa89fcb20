//! [`Cumulative`]: the sum of all intervals so far, for checkpoint lines.

use wavetank_measure::{Interval, ThreadStats};

/// All intervals written so far, summed into one. Counters and histograms are added up, gauges are
/// those of the latest seal, and each load thread has one entry.
#[derive(Default)]
pub(crate) struct Cumulative {
    sum: Interval,
}

impl Cumulative {
    /// Adds the next interval in time. [`Interval::merge`] is made for parallel threads: it would
    /// add up gauges and list every thread again each second. This corrects both.
    pub(crate) fn add(&mut self, next: &Interval) {
        let peak = self.sum.conns.peak.max(next.conns.peak);
        let threads = std::mem::take(&mut self.sum.threads);
        self.sum.steps.iter_mut().for_each(|step| step.open = 0);
        (self.sum.conns.opening, self.sum.conns.open, self.sum.users) = (0, 0, 0);
        self.sum.journeys.clear_gauges();
        self.sum.merge(next);
        self.sum.conns.peak = peak;
        let latest = std::mem::replace(&mut self.sum.threads, threads);
        for theirs in &latest {
            match self.sum.threads.iter_mut().find(|mine| mine.name() == theirs.name()) {
                Some(mine) => mine.merge(theirs),
                None => self.sum.threads.push(ThreadStats { ..*theirs }),
            }
        }
    }

    /// Starts from `sum`, the known sum of everything so far.
    pub(crate) const fn beginning_with(sum: Interval) -> Self {
        Self { sum }
    }

    pub(crate) const fn sum(&self) -> &Interval {
        &self.sum
    }
}
