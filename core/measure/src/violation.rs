//! [`Violation`]: counters that do not add up.

use wavetank_plan::Key;

/// Counters that do not add up: a defect of ours, which voids the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The key it concerns; `None`: connections.
    pub key: Option<Key>,
    /// The broken identity, e.g. `offered = done + failed + dropped + open`.
    pub identity: &'static str,
    /// The counters, by name, for the dump.
    pub counters: Vec<(&'static str, u64)>,
}
