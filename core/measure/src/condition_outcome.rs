//! [`ConditionOutcome`]: the result of a threshold, and the worst of several.

use wavetank_plan::Condition;
use wavetank_units::Nanos;

use crate::outcome::ConditionResult;

/// The result of a threshold.
pub(crate) struct ConditionOutcome {
    pub(crate) outcome: ConditionResult,
    /// Begin of the worst window, or the worst seal.
    pub(crate) at: Option<Nanos>,
}

pub(crate) fn record_worst(
    worst: &mut Option<(Nanos, ConditionResult)>,
    at: Nanos,
    outcome: ConditionResult,
    condition: &Condition,
) {
    if worst.as_ref().is_none_or(|(_, known)| outcome.is_worse_than(known, condition.op)) {
        *worst = Some((at, outcome));
    }
}
