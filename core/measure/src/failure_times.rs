//! [`FailureTimes`]: when requests failed.

use wavetank_units::Nanos;

use crate::{ErrorClass, Interval, PhaseWindows};

/// The time in which requests failed with one class: in the measured window, and after it while
/// requests of the window were still open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureTime {
    /// Start of the first interval with such a failure.
    pub from: Nanos,
    /// End of the last one.
    pub until: Nanos,
    /// Total length of the intervals with such a failure.
    pub length: Nanos,
}

/// The times at which requests failed, to the second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureTimes {
    classes: [Option<FailureTime>; ErrorClass::ALL.len()],
    measured: Nanos,
}

impl FailureTimes {
    /// Adds one merged interval; intervals arrive in order. Failures of the warm-up are left out.
    pub(crate) fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        if spans.in_window(interval) {
            self.measured += interval.len;
        }
        for (class, time) in self.classes.iter_mut().enumerate() {
            let judged = interval.steps.iter().filter(|series| !spans.is_warmup(series.key.phase));
            if judged.map(|series| series.counters.errors[class]).sum::<u64>() > 0 {
                let time = time.get_or_insert(FailureTime { from: interval.from, ..FailureTime::default() });
                time.until = interval.end();
                time.length += interval.len;
            }
        }
    }

    /// When requests failed with `class`; `None` if none did.
    pub fn of(&self, class: ErrorClass) -> Option<FailureTime> {
        self.classes[class as usize]
    }

    /// Length of the measured window so far.
    pub const fn measured(&self) -> Nanos {
        self.measured
    }
}
