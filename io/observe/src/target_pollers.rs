//! [`TargetPollers`]: polls servers that share one load, and adds up their counts.

use wavetank_measure::TargetSample;
use wavetank_units::Nanos;

use crate::{PollResult, TargetPoller};

/// Pollers of all servers of one load.
#[derive(Debug)]
pub struct TargetPollers(Vec<TargetPoller>);

impl TargetPollers {
    /// Returns the group of these pollers, of which there is at least one.
    pub fn new(askers: Vec<TargetPoller>) -> Self {
        Self(askers)
    }

    /// Polls all of them, one after the other. A sum without one server's count would mean
    /// something else. In that case the result is what that server returned, and the remaining
    /// servers are not polled.
    pub fn poll(&mut self, now: impl Fn() -> Nanos) -> PollResult {
        let mut all = Vec::with_capacity(self.0.len());
        for asker in &mut self.0 {
            match asker.poll(&now) {
                PollResult::Reported(sample) => all.push(sample),
                other => return other,
            }
        }
        together(&all).map_or(PollResult::Silent, PollResult::Reported)
    }
}

/// Returns the sum of counts taken at several times. Its time is the latest of them, and the spread
/// adds to the error.
fn together(all: &[TargetSample]) -> Option<TargetSample> {
    let (first, rest) = all.split_first()?;
    let mut sum = *first;
    let mut earliest = first.at;
    for one in rest {
        earliest = earliest.min(one.at);
        sum = TargetSample {
            asked: sum.asked.min(one.asked),
            at: sum.at.max(one.at),
            error: sum.error.max(one.error),
            open: sum.open + one.open,
            accepted: sum.accepted + one.accepted,
            closed: sum.closed + one.closed,
            reset: sum.reset + one.reset,
            // The servers may have had their peaks at different times, so this is an upper bound.
            peak: sum.peak + one.peak,
        };
    }
    let error = sum.error.after(sum.at - earliest);
    Some(TargetSample { error, ..sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_instants_bound_the_error() {
        let one = |at, open| TargetSample {
            asked: Nanos(at - 10),
            at: Nanos(at),
            error: Nanos(3),
            open,
            accepted: open + 1,
            closed: 1,
            reset: 0,
            peak: open,
        };
        assert_eq!(together(&[]), None);
        assert_eq!(together(&[one(100, 5)]), Some(one(100, 5)));
        let sum = together(&[one(100, 5), one(120, 7), one(110, 1)]).expect("there are three");
        assert_eq!((sum.asked, sum.at, sum.error), (Nanos(90), Nanos(120), Nanos(23)));
        assert_eq!((sum.open, sum.accepted, sum.closed, sum.peak), (13, 16, 3, 13));
    }
}
