//! [`SlidingWindow`]: the last seconds of one condition.

use std::collections::VecDeque;

use wavetank_units::Nanos;

use crate::sample::{ConditionCounts, ConditionSample};
use crate::sparse::SparseHistogram;

/// A window that slides by one sealed interval: the shortest sequence of latest intervals that
/// covers its length.
#[derive(Clone, Debug)]
pub(crate) struct SlidingWindow {
    length: Nanos,
    seconds: VecDeque<Second>,
    /// All of `seconds` together.
    whole: ConditionSample,
    /// What happened to the same keys after the span's time, in the drain. It belongs to the last
    /// window; otherwise it would never be judged.
    after: ConditionSample,
}

#[derive(Clone, Debug)]
struct Second {
    from: Nanos,
    tally: ConditionCounts,
    times: SparseHistogram,
    lag: SparseHistogram,
}

impl SlidingWindow {
    pub(crate) fn new(length: Nanos) -> Self {
        Self {
            length,
            seconds: VecDeque::new(),
            whole: ConditionSample::default(),
            after: ConditionSample::default(),
        }
    }

    /// Moves the window by one interval of the span's time.
    pub(crate) fn push(&mut self, from: Nanos, sample: &ConditionSample) {
        // Another stretch of the same span starts after a gap; no window extends across it.
        if self.seconds.back().is_some_and(|last| last.from + last.tally.time < from) {
            self.seconds.clear();
            self.whole.clear();
        }
        self.whole.add(sample);
        let (times, lag) =
            (SparseHistogram::from_histogram(&sample.times), SparseHistogram::from_histogram(&sample.lag));
        self.seconds.push_back(Second { from, tally: sample.tally, times, lag });
        while let Some(first) = self.seconds.front()
            && self.whole.tally.time - first.tally.time >= self.length
        {
            let first = self.seconds.pop_front().expect("it was just looked at");
            self.whole.tally.take_away(&first.tally);
            self.whole.times.subtract(&first.times, bounds(self.seconds.iter().map(|second| &second.times)));
            self.whole.lag.subtract(&first.lag, bounds(self.seconds.iter().map(|second| &second.lag)));
        }
    }

    /// Keep what happened after the span's time.
    pub(crate) fn push_after(&mut self, sample: &ConditionSample) {
        if !self.seconds.is_empty() {
            self.after.add(sample);
        }
    }

    /// The start of the window and its data, once it is full.
    pub(crate) fn full(&self) -> Option<(Nanos, &ConditionSample)> {
        let first = self.seconds.front()?;
        (self.whole.tally.time >= self.length).then_some((first.from, &self.whole))
    }

    /// The last window together with everything after it; `None` if nothing followed.
    pub(crate) fn last_with_after(&self) -> Option<(Nanos, ConditionSample)> {
        let (from, whole) = self.full()?;
        if self.after.tally == ConditionCounts::default() && self.after.times.is_empty() {
            return None;
        }
        let mut all = whole.clone();
        all.add(&self.after);
        Some((from, all))
    }
}

/// Exact minimum and maximum of several seconds; `None` when all are empty.
fn bounds<'a>(seconds: impl Iterator<Item = &'a SparseHistogram>) -> Option<(u64, u64)> {
    let filled = seconds.filter(|second| second.count > 0).map(|second| (second.min, second.max));
    filled.reduce(|(min, max), (lower, upper)| (min.min(lower), max.max(upper)))
}
