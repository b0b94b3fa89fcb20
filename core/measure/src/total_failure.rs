//! [`TotalFailureDetector`]: detects a run that cannot succeed.

use wavetank_plan::Plan;
use wavetank_plan::constants::HOPELESS_AFTER;
use wavetank_units::Nanos;

use crate::{ErrorClass, Interval};

/// Detects a run that cannot succeed: nothing was done in the first seconds, and every request
/// started more than a second ago has failed, all with one class (`docs/measuring.md` §5). Warm-up
/// counts, because it has the same target.
#[derive(Clone, Debug)]
pub struct TotalFailureDetector {
    /// When the first phase started.
    start: Nanos,
    done: u64,
    dropped: u64,
    errors: [u64; ErrorClass::ALL.len()],
    /// (seal, offered until then) of the last two seconds, oldest first.
    offered: Vec<(Nanos, u64)>,
}

impl TotalFailureDetector {
    /// Creates one for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let start = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
        Self { start, done: 0, dropped: 0, errors: [0; ErrorClass::ALL.len()], offered: Vec::new() }
    }

    /// Adds one merged interval; intervals arrive in order.
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
        // The newest seal that is at least a second old determines which requests must have failed
        // by now. Older seals are not needed.
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

    /// Returns the class with which every request failed that was not dropped, if none was done.
    /// Such a run with a fixed number of requests (`-n`) is hopeless after its end, however short
    /// it was.
    pub fn only_class(&self) -> Option<ErrorClass> {
        let mut occurred = ErrorClass::ALL.into_iter().filter(|&class| self.errors[class as usize] > 0);
        let class = occurred.next()?;
        (self.done == 0 && occurred.next().is_none()).then_some(class)
    }
}
