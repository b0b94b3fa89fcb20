//! [`Stalls`]: when no request ended though enough of them waited; facts only.

use wavetank_units::Nanos;

/// A stretch of the measured window in which no request ended, and which the generator did not
/// cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// Start of its first whole interval.
    pub from: Nanos,
    /// Minimum length.
    pub len: Nanos,
    /// Requests open at `open_at`.
    pub open: u64,
    /// End of its last whole interval: it may have lasted longer.
    pub open_at: Nanos,
}

/// The standstills of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stalls {
    /// Number of standstills.
    pub count: u64,
    /// Total length.
    pub total: Nanos,
    /// The longest, and of those the first.
    pub longest: Stall,
    /// Requests that ended in the measured window.
    pub ended: u64,
    /// Length of the measured window, as far as it is sealed.
    pub window: Nanos,
}

impl Stalls {
    /// Requests that ended each second of the measured window, standstills left out.
    pub fn usual_per_s(&self) -> f64 {
        let between = self.window.since(self.total) as f64 / 1e9;
        if between > 0.0 { self.ended as f64 / between } else { 0.0 }
    }

    pub(crate) fn add(&mut self, found: Stall) {
        self.count += 1;
        self.total = self.total.after(found.len);
        if found.len > self.longest.len {
            self.longest = found;
        }
    }
}
