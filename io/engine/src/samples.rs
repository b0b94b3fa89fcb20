//! [`Samples`]: the first failure of each class, as an example.

use wavetank_measure::ErrorClass;

use crate::messages::Sample;

/// See the module's description.
#[derive(Default)]
pub(crate) struct Samples {
    fresh: Vec<Sample>,
    seen: [bool; ErrorClass::ALL.len()],
}

impl Samples {
    /// A request failed.
    pub(crate) fn add(&mut self, sample: Sample) {
        let seen = &mut self.seen[sample.class as usize];
        if !std::mem::replace(seen, true) {
            self.fresh.push(sample);
        }
    }

    /// Those since the last call.
    pub(crate) fn take(&mut self) -> Vec<Sample> {
        std::mem::take(&mut self.fresh)
    }
}
