//! [`Threshold`] and [`ThresholdResult`]: what was asked, and what came of it.

use wavetank_plan::constants::IMPLICIT_FAILED_SHARE;
use wavetank_plan::{Condition, Nanos, Op, Plan, RequestCount, Subject, Value};

/// A condition that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// What must be true.
    pub condition: Condition,
    /// Added by us because the user's own thresholds do not speak of it.
    pub implicit: bool,
}

impl Threshold {
    /// The plan's thresholds, and after them the implicit ones (contract §5): `done > 0` unless a threshold
    /// speaks of done; `failed < 1%` unless one speaks of failed, errors or status; for a plan without
    /// requests `opened > 0` and `connections failed < 1%` instead.
    pub fn all(plan: &Plan) -> Vec<Self> {
        let user =
            plan.thresholds.iter().map(|condition| Self { condition: condition.clone(), implicit: false });
        let mut all: Vec<_> = user.collect();
        let judged = plan.phases.iter().filter(|phase| !phase.warmup);
        let mut scenarios = judged.filter_map(|phase| plan.scenarios.get(phase.scenario));
        let sends = scenarios.any(|scenario| !scenario.steps.is_empty());
        let speaks =
            |of: fn(&Subject) -> bool| plan.thresholds.iter().any(|condition| of(&condition.subject));
        if sends {
            if !speaks(|subject| matches!(subject, Subject::Requests(RequestCount::Done, _))) {
                all.push(implicit_some("done > 0", Subject::Requests(RequestCount::Done, None)));
            }
            if !speaks(speaks_of_failures) {
                all.push(implicit_failed("failed < 1%", Subject::Requests(RequestCount::Failed, None)));
            }
        } else {
            if !speaks(|subject| matches!(subject, Subject::Opened)) {
                all.push(implicit_some("opened > 0", Subject::Opened));
            }
            if !speaks(|subject| matches!(subject, Subject::ConnectionsFailed)) {
                all.push(implicit_failed("connections failed < 1%", Subject::ConnectionsFailed));
            }
        }
        all
    }
}

fn speaks_of_failures(subject: &Subject) -> bool {
    matches!(subject, Subject::Requests(RequestCount::Failed, _) | Subject::Errors(_) | Subject::Status(_))
}

fn implicit_some(text: &str, subject: Subject) -> Threshold {
    implicit(text, subject, Op::Greater, Value::Count(0.0))
}

fn implicit_failed(text: &str, subject: Subject) -> Threshold {
    implicit(text, subject, Op::Less, Value::Share(IMPLICIT_FAILED_SHARE))
}

fn implicit(text: &str, subject: Subject, op: Op, value: Value) -> Threshold {
    let condition = Condition { text: text.to_owned(), subject, op, value, phase: None, window: None };
    Threshold { condition, implicit: true }
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
