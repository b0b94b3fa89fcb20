//! [`Judge`]: thresholds and stop conditions, second by second.

use wavetank_plan::{Nanos, Plan};

use crate::threshold::{Threshold, ThresholdResult};
use crate::totals::planned_connections;
use crate::tracker::Tracker;
use crate::{Interval, Spans};

/// Thresholds and stop conditions, judged second by second as intervals are sealed. Windows keep only
/// what happened in them, so its memory does not grow with the run.
#[derive(Clone, Debug)]
pub struct Judge {
    thresholds: Vec<Tracker>,
    stops: Vec<Tracker>,
    fired: Option<(String, Nanos)>,
    sealed: Nanos,
}

impl Judge {
    /// Of the plan's thresholds, the implicit ones among them, and its stop conditions.
    pub fn new(plan: &Plan) -> Self {
        let planned = planned_connections(plan);
        let tracker =
            |threshold: Threshold| Tracker::new(&threshold.condition, threshold.implicit, plan, planned);
        Self {
            thresholds: Threshold::all(plan).into_iter().map(tracker).collect(),
            stops: plan.stop.iter().map(|condition| Tracker::new(condition, false, plan, planned)).collect(),
            fired: None,
            sealed: Nanos(i64::MIN),
        }
    }

    /// Take in one merged interval; they come in order. `spans` are those of the totals.
    pub fn add(&mut self, interval: &Interval, spans: &Spans) {
        self.sealed = self.sealed.max(interval.end());
        self.thresholds.iter_mut().chain(&mut self.stops).for_each(|tracker| tracker.add(interval, spans));
        if self.fired.is_none() {
            let first = self.stops.iter().find(|tracker| tracker.fires(interval, spans));
            self.fired = first.map(|tracker| (tracker.condition.text.clone(), interval.end()));
        }
    }

    /// The first stop condition that was true, and the seal at which it was.
    pub fn stop_fired(&self) -> Option<(&str, Nanos)> {
        self.fired.as_ref().map(|(text, at)| (text.as_str(), *at))
    }

    /// All thresholds, the user's first, as they stand: final when the run is over.
    pub fn results(&self, spans: &Spans) -> Vec<ThresholdResult> {
        self.thresholds.iter().map(|tracker| self.result(tracker, spans)).collect()
    }

    fn result(&self, tracker: &Tracker, spans: &Spans) -> ThresholdResult {
        let reckoning = tracker.reckon(spans, self.sealed);
        let outcome = reckoning.outcome;
        ThresholdResult {
            expr: tracker.condition.text.clone(),
            condition: tracker.condition.clone(),
            value: outcome.value,
            ok: outcome.ok,
            why: outcome.why,
            implicit: tracker.implicit,
            at: reckoning.at,
            holds_without_lag: outcome.holds_without_lag,
            lag_ns: outcome.lag_ns,
            holds_without_generator: outcome.holds_without_generator,
        }
    }
}
