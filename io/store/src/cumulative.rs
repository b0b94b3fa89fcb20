//! [`Cumulative`]: the sum of all intervals so far, for checkpoint lines.

use wavetank_measure::{Interval, ThreadStats};

/// Everything written so far as one interval: counters and histograms added up, gauges of the latest seal, one
/// entry for each load thread.
#[derive(Default)]
pub(crate) struct Cumulative {
    sum: Interval,
}

impl Cumulative {
    /// Add the next interval in time. [`Interval::merge`] is made for threads side by side and would add up
    /// gauges and list every thread again each second; both are put right here.
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
            match self.sum.threads.iter_mut().find(|mine| mine.thread == theirs.thread) {
                Some(mine) => mine.merge(theirs),
                None => self.sum.threads.push(ThreadStats { ..*theirs }),
            }
        }
    }

    /// Everything so far is known to be `sum`.
    pub(crate) const fn beginning_with(sum: Interval) -> Self {
        Self { sum }
    }

    pub(crate) const fn sum(&self) -> &Interval {
        &self.sum
    }
}
