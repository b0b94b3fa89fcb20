//! [`GeneratorExcuses`]: whether the windows that violate a condition would pass without the
//! generator's share.

use crate::outcome::ConditionResult;

/// Summary over all windows that violate the condition. States whether all of them would pass
/// without lag, and without the requests that the generator failed or dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratorExcuses {
    pub(crate) without_lag: Option<bool>,
    pub(crate) without_generator: Option<bool>,
    pub(crate) lag_ns: Option<u64>,
}

impl GeneratorExcuses {
    /// The condition as a whole is excused only if all windows that violate it are.
    pub(crate) fn note(&mut self, outcome: &ConditionResult) {
        if outcome.ok == Some(false) {
            let lag = outcome.holds_without_lag.unwrap_or(false);
            let generator = outcome.holds_without_generator.unwrap_or(false);
            self.without_lag = Some(self.without_lag.unwrap_or(true) && lag);
            self.without_generator = Some(self.without_generator.unwrap_or(true) && generator);
            self.lag_ns = match (self.lag_ns, outcome.lag_ns) {
                (Some(least), Some(ns)) => Some(least.min(ns)),
                (one, other) => one.or(other),
            };
        }
    }
}
