//! [`Samples`]: the first failure of each class of each step, as an example.

use wavetank_measure::ErrorClass;

use crate::messages::Sample;

/// Failures kept by one thread at most: a run of many steps may fail in many ways.
const KEPT_MAX: usize = 200;

/// See the module's description.
#[derive(Default)]
pub(crate) struct Samples {
    fresh: Vec<Sample>,
    /// Scenario, step and class of those kept so far.
    seen: Vec<(u16, u16, ErrorClass)>,
}

impl Samples {
    /// A request failed.
    pub(crate) fn add(&mut self, sample: Sample) {
        let what = (sample.key.scenario, sample.key.step, sample.class);
        // Most often it is the one that came first.
        if self.seen.len() < KEPT_MAX && !self.seen.contains(&what) {
            self.seen.push(what);
            self.fresh.push(sample);
        }
    }

    /// Those since the last call.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.fresh)
    }
}
