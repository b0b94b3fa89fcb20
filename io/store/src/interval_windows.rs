//! [`OpenedRun::read_windows`]: a run's intervals for views that cannot take back what they have told.

use std::ops::ControlFlow;

use wavetank_measure::Interval;
use wavetank_plan::{Nanos, UserError};

use crate::cumulative::Cumulative;
use crate::{ArchiveItem, OpenedRun, ReadReport};

impl OpenedRun {
    /// Hand every stretch of time that something is known of to `visit`, with the name of its agent, in the order of
    /// [`read_intervals`](Self::read_intervals), until it has had enough. Where intervals were lost, the next checkpoint
    /// tells what was in them: they come as one stretch, after those that were read meanwhile. Added up, requests,
    /// connections and times are the same as in the totals of the run; such a stretch leaves out load threads, and of
    /// journeys all but sessions.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_windows(
        &self,
        mut visit: impl FnMut(&str, &Interval) -> ControlFlow<()>,
    ) -> Result<ReadReport, UserError> {
        let mut known = Known::default();
        self.read_intervals_until(|first, sealed| {
            if first {
                known = Known::default();
            }
            match sealed {
                ArchiveItem::Next(line) => {
                    known.add(&line.interval);
                    visit(&line.agent, &line.interval)
                }
                ArchiveItem::Instead(line) => {
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
        let mut lost = all.since(self.sum.sum());
        (lost.from, lost.len) = (from, until - from);
        self.end = Some(self.end.map_or(all.end(), |end| end.max(all.end())));
        self.sum = Cumulative::beginning_with(all);
        lost
    }
}
