//! [`Threshold`] and [`ThresholdResult`]: a condition to judge, and its result.

use wavetank_plan::{Condition, Plan, implicit_thresholds};
use wavetank_units::{Nanos, Sentence};

/// A condition that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// What must be true.
    pub condition: Condition,
    /// Added by us because the user's own thresholds do not speak of it.
    pub implicit: bool,
}

impl Threshold {
    /// The plan's thresholds, and after them the implicit ones.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let user =
            plan.thresholds.iter().map(|condition| Self { condition: condition.clone(), implicit: false });
        let implicit =
            implicit_thresholds(plan).into_iter().map(|condition| Self { condition, implicit: true });
        user.chain(implicit).collect()
    }
}

/// A threshold, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdResult {
    /// The condition as the user wrote it.
    pub expr: String,
    /// The condition itself; its value names the unit of `value`.
    pub condition: Condition,
    /// The measured value, in the unit of the condition's value: nanoseconds, a count, per second
    /// or a share. With a window, the value of the worst window. `None`: nothing to show, and `why`
    /// gives the reason.
    pub value: Option<f64>,
    /// Passed, failed, or undecided (`None`).
    pub ok: Option<bool>,
    /// Why it is undecided, or failed without a value.
    pub why: Option<Sentence>,
    /// Added by us.
    pub implicit: bool,
    /// With a window: begin of the worst one.
    pub at: Option<Nanos>,
    /// Violated, but would pass had the generator been on time: the value minus the lag at the
    /// same percentile and span passes. `None`: not violated, or not a time that contains lag.
    pub holds_without_lag: Option<bool>,
    /// The lag at the same percentile and span, where the value contains lag.
    pub lag_ns: Option<u64>,
    /// Violated, but would pass without the failures caused by the generator. `None`: not violated,
    /// or not a count of failures.
    pub holds_without_generator: Option<bool>,
}
