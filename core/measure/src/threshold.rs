//! [`Threshold`] and [`ThresholdResult`]: what was asked, and what came of it.

use wavetank_plan::{Condition, Nanos, Plan, implicit_thresholds};

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
    /// The user's words.
    pub expr: String,
    /// The condition itself; its value names the unit of `value`.
    pub condition: Condition,
    /// What was measured, in the unit of the condition's value: nanoseconds, a count, per second or a
    /// share. With a window: that of the worst window. `None`: nothing to show, and `why` says so.
    pub value: Option<f64>,
    /// Held, broken, or undecided (`None`).
    pub ok: Option<bool>,
    /// Why it is undecided, or broken without a value.
    pub why: Option<String>,
    /// Added by us.
    pub implicit: bool,
    /// With a window: begin of the worst one.
    pub at: Option<Nanos>,
    /// Broken, but would hold had the generator been on time: the value minus the send lag at the same
    /// percentile and span holds. `None`: not broken, or not a time that contains lag.
    pub holds_without_lag: Option<bool>,
    /// The send lag at the same percentile and span, where the value contains lag.
    pub lag_ns: Option<u64>,
    /// Broken, but would hold without what failed for the generator's reasons. `None`: not broken, or
    /// not a count of failures.
    pub holds_without_generator: Option<bool>,
}
