//! [`GeneratorHealth`]: how far the generator itself can be believed; facts only.

use wavetank_units::Nanos;

/// A share with its two counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fraction {
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
}

/// A share in one period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowShare {
    /// The share.
    pub share: Fraction,
    /// Start of the period.
    pub from: Nanos,
    /// Its length.
    pub len: Nanos,
}

/// How often one load thread was full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLoad {
    /// Number of its agent in a fleet, by the order of names, from 0. 0 on a single host.
    pub agent: u16,
    /// Number of the thread on its agent.
    pub thread: u16,
    /// Intervals in which its busy share was at least
    /// [`wavetank_plan::constants::THREAD_FULL_SHARE`].
    pub full: u64,
    /// Intervals of the measured window it was seen in.
    pub intervals: u64,
}

/// Facts for judging how accurate the generator was, about the judged keys in the measured window.
/// They contain no judgement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorHealth {
    /// The worst ten seconds: late, of the requests offered or ended, whichever is more.
    pub late_worst: WindowShare,
    /// Seconds with at least one late request, of all seconds of the measured window.
    pub late_seconds: Fraction,
    /// Open loop, the worst ten seconds: dropped or failed for a generator reason, of the requests
    /// offered or so ended, whichever is more.
    pub generator_worst: WindowShare,
    /// Open loop, the whole run: dropped or failed for a generator reason, of offered.
    pub generator_open_model: Fraction,
    /// Requests dropped for a generator reason, of offered; all judged keys.
    pub generator_dropped: Fraction,
    /// Requests that failed for a generator reason, of offered; all judged keys.
    pub generator_failed: Fraction,
    /// Those of these drops that happened at `max_open` while a load thread was full.
    pub max_open_while_full: u64,
    /// Loop turns that found no buffer or submission slot, of turns that did work.
    pub starved_turns: Fraction,
    /// Loop turns that worked longer than the late tolerance, of turns that did work.
    pub stalled_turns: Fraction,
    /// Each load thread.
    pub threads: Vec<ThreadLoad>,
}

impl Fraction {
    pub(crate) fn add(&mut self, count: u64, of: u64) {
        self.count += count;
        self.of += of;
    }

    /// As a fraction; 0 of 0 is 0.
    pub fn fraction(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.count as f64 / self.of as f64 }
    }
}
