//! [`Samples`]: the first failure of each class of each step, as an example.

use wavetank_measure::ErrorClass;

use crate::messages::Sample;

/// The maximum number of failures that one thread keeps, because a run of many steps may fail in
/// many ways.
const KEPT_MAX: usize = 200;

/// Examples of failures; see the module documentation.
#[derive(Default)]
pub(crate) struct Samples {
    fresh: Vec<Sample>,
    /// Scenario, step and class of those kept so far.
    seen: Vec<(u16, u16, ErrorClass)>,
}

impl Samples {
    /// Adds a failed request.
    pub(crate) fn add(&mut self, sample: Sample) {
        let what = (sample.key.scenario, sample.key.step, sample.class);
        // The most frequent failure usually comes first.
        if self.seen.len() < KEPT_MAX && !self.seen.contains(&what) {
            self.seen.push(what);
            self.fresh.push(sample);
        }
    }

    /// Returns the failures since the last call.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.fresh)
    }
}
