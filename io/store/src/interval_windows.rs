//! [`OpenedRun::read_windows`]: a run's intervals for views that cannot correct their earlier
//! output.

use std::ops::ControlFlow;

use wavetank_measure::Interval;
use wavetank_units::{Nanos, UserError};

use crate::cumulative::Cumulative;
use crate::{ArchiveItem, OpenedRun, ReadReport};

impl OpenedRun {
    /// Passes every known time window to `visit`, with the name of its agent, until `visit` breaks.
    /// The order is that of [`read_intervals`](Self::read_intervals).
    ///
    /// If intervals were lost, the next checkpoint contains their sum. They are passed as one
    /// window, after the intervals read in between. Requests, connections and times over all
    /// windows equal the totals of the run. Such a window has no load threads, and of the journeys
    /// only the sessions.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_windows(
        &self,
        mut visit: impl FnMut(&str, &Interval) -> ControlFlow<()>,
    ) -> Result<ReadReport, UserError> {
        let mut known = Known::default();
        self.read_intervals_until(|sealed| match sealed {
            ArchiveItem::Next(line) => {
                known.add(&line.interval);
                visit(&line.agent, &line.interval)
            }
            ArchiveItem::Instead(line) => {
                let lost = known.replace(line.interval.clone());
                visit(&line.agent, &lost)
            }
        })
    }
}

/// Everything known of one agent so far.
#[derive(Default)]
struct Known {
    sum: Cumulative,
    /// Start of its first interval.
    begin: Option<Nanos>,
    /// End of its latest interval.
    end: Option<Nanos>,
    /// Start and end of the missing intervals since the last checkpoint that replaced some.
    gap: Option<(Nanos, Nanos)>,
}

impl Known {
    fn add(&mut self, interval: &Interval) {
        self.reach(interval.from);
        self.begin.get_or_insert(interval.from);
        self.end = Some(interval.end());
        self.sum.add(interval);
    }

    /// Marks the time between the latest interval and `at` as missing.
    fn reach(&mut self, at: Nanos) {
        if let Some(end) = self.end.filter(|end| *end < at) {
            let from = self.gap.map_or(end, |(from, _)| from);
            self.gap = Some((from, at));
        }
    }

    /// Takes `all` as the sum so far, and returns the part of it that was not known.
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
