//! [`TotalFailureDetector`]: notices a run that cannot come to anything.

use wavetank_plan::constants::HOPELESS_AFTER;
use wavetank_plan::{Nanos, Plan};

use crate::{ErrorClass, Interval};

/// Notices a run in which nothing was done in the first seconds and every request begun more than a second
/// ago has failed, all with one class (contract §5). Warm-up counts: it is the same target.
#[derive(Clone, Debug)]
pub struct TotalFailureDetector {
    /// When the first phase began.
    start: Nanos,
    done: u64,
    dropped: u64,
    errors: [u64; ErrorClass::ALL.len()],
    /// (seal, offered until then) of the last two seconds, oldest first.
    offered: Vec<(Nanos, u64)>,
}

impl TotalFailureDetector {
    /// Of a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let start = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
        Self { start, done: 0, dropped: 0, errors: [0; ErrorClass::ALL.len()], offered: Vec::new() }
    }

    /// Take in one merged interval; they come in order.
    pub fn add(&mut self, interval: &Interval) {
        let before = self.offered.last().map_or(0, |&(_, offered)| offered);
        let mut offered = before;
        for series in &interval.steps {
            offered += series.counters.offered;
            self.done += series.counters.done;
            self.dropped += series.counters.dropped();
            self.errors.iter_mut().zip(series.counters.errors).for_each(|(mine, theirs)| *mine += theirs);
        }
        let now = interval.end();
        // The youngest seal that is a second old says what must have failed by now; older ones are not needed.
        let old = self.offered.iter().rposition(|&(at, _)| at + Nanos::SECOND <= now).unwrap_or(0);
        self.offered.drain(..old);
        self.offered.push((now, offered));
    }

    /// The class in which everything failed, if the run is hopeless at the latest seal.
    pub fn class(&self) -> Option<ErrorClass> {
        let &(now, _) = self.offered.last()?;
        if self.done > 0 || now < self.start.after(HOPELESS_AFTER) {
            return None;
        }
        let failed: u64 = self.errors.iter().sum();
        let due =
            self.offered.iter().rev().find(|&&(at, _)| at + Nanos::SECOND <= now).map_or(0, |&(_, n)| n);
        let class = self.only_class()?;
        (failed + self.dropped >= due).then_some(class)
    }

    /// The class in which everything failed that was not dropped, nothing having been done: once a counted
    /// run (`-n`) is over, this makes it hopeless however short it was.
    pub fn only_class(&self) -> Option<ErrorClass> {
        let mut occurred = ErrorClass::ALL.into_iter().filter(|&class| self.errors[class as usize] > 0);
        let class = occurred.next()?;
        (self.done == 0 && occurred.next().is_none()).then_some(class)
    }
}
