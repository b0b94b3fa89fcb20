//! [`JudgedWindow`]: the stretch of time that a condition is judged on.

use wavetank_plan::{Condition, Plan};
use wavetank_units::Nanos;

use crate::forecast::Forecast;

/// The stretch of time that a condition is judged on.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedWindow {
    pub(super) from: Nanos,
    pub(super) until: Nanos,
}

impl JudgedWindow {
    /// Returns the span of the condition's phase, or of all judged phases. `None` where the
    /// responses decide when it ends.
    pub(super) fn of(condition: &Condition, plan: &Plan, forecast: &Forecast) -> Option<Self> {
        let own = |name: &str| condition.phase.as_deref().is_none_or(|phase| phase == name);
        let mut span: Option<Self> = None;
        for (phase, expected) in forecast.judged(plan).filter(|(phase, _)| own(&phase.name)) {
            let until = expected.ends?;
            let known = span.get_or_insert(Self { from: phase.start, until });
            *known = Self { from: known.from.min(phase.start), until: known.until.max(until) };
        }
        span.filter(|span| span.until > span.from)
    }
}
