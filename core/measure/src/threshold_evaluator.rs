//! [`ThresholdEvaluator`]: thresholds and stop conditions, second by second.

use wavetank_plan::{Condition, Op, Plan};
use wavetank_units::Nanos;

use crate::threshold::{Threshold, ThresholdResult};
use crate::totals::planned_connections;
use crate::tracker::ConditionTracker;
use crate::{HostSample, Interval, PhaseWindows};

/// Evaluates thresholds and stop conditions second by second as intervals are sealed. Windows keep
/// only what happened in them, so memory does not grow with the run.
#[derive(Clone, Debug)]
pub struct ThresholdEvaluator {
    thresholds: Vec<ConditionTracker>,
    stops: Vec<ConditionTracker>,
    fired: Option<StopFired>,
    sealed: Nanos,
}

#[derive(Clone, Debug)]
struct StopFired {
    /// Which of the stop conditions.
    stop: usize,
    /// The seal at which it was true.
    at: Nanos,
    /// The result at that moment.
    result: ThresholdResult,
}

impl ThresholdEvaluator {
    /// Creates an evaluator for the plan's thresholds, including implicit ones, and its stop
    /// conditions.
    pub fn new(plan: &Plan) -> Self {
        let planned = planned_connections(plan);
        let tracker = |threshold: Threshold| {
            ConditionTracker::new(&threshold.condition, threshold.implicit, plan, planned)
        };
        // A stop condition is evaluated as its opposite, which must pass. The same rules for
        // uncertainty and for the generator's share then apply to both.
        let stop = |condition: &Condition| {
            let op = opposite(condition.op);
            ConditionTracker::new(&Condition { op, ..condition.clone() }, false, plan, planned)
        };
        Self {
            thresholds: Threshold::all(plan).into_iter().map(tracker).collect(),
            stops: plan.stop.iter().map(stop).collect(),
            fired: None,
            sealed: Nanos(i64::MIN),
        }
    }

    /// Adds one merged interval; intervals arrive in order. `spans` are those of the totals.
    pub fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        self.sealed = self.sealed.max(interval.end());
        self.thresholds.iter_mut().chain(&mut self.stops).for_each(|tracker| tracker.add(interval, spans));
        if self.fired.is_none() {
            let first = self.stops.iter().position(|tracker| tracker.fires(interval, spans));
            let at = interval.end();
            self.fired =
                first.map(|stop| StopFired { stop, at, result: self.result(&self.stops[stop], spans) });
        }
    }

    /// Adds a sample of the host `name`. Samples of one host arrive in order. Stop conditions are
    /// checked with the next interval.
    pub fn observe_host(&mut self, name: &str, sample: &HostSample, spans: &PhaseWindows) {
        let all = self.thresholds.iter_mut().chain(&mut self.stops);
        all.for_each(|tracker| tracker.add_host(name, sample, spans));
    }

    /// Whether it matters in which second a time was measured.
    pub(crate) fn needs_windowed_latency(&self) -> bool {
        self.stops.iter().any(ConditionTracker::uses_times)
            || self.thresholds.iter().any(|tracker| tracker.uses_times() && tracker.is_windowed())
    }

    /// Adds the times of intervals that were added without times.
    pub(crate) fn add_times(&mut self, times: &Interval, spans: &PhaseWindows) {
        self.thresholds.iter_mut().for_each(|tracker| tracker.add_times(times, spans));
    }

    /// The first stop condition that was true, and the seal at which it was.
    pub fn stop_fired(&self) -> Option<(&str, Nanos)> {
        self.fired.as_ref().map(|fired| (self.stops[fired.stop].condition.text.as_str(), fired.at))
    }

    /// Returns the stop condition that fired, with its result at that moment, in the form of a
    /// violated threshold. `condition` is its opposite, which had to pass; `expr` is as written.
    pub fn stop_result(&self) -> Option<ThresholdResult> {
        self.fired.as_ref().map(|fired| fired.result.clone())
    }

    /// Returns the current results of all thresholds, the user's first; final when the run is over.
    pub fn results(&self, spans: &PhaseWindows) -> Vec<ThresholdResult> {
        self.thresholds.iter().map(|tracker| self.result(tracker, spans)).collect()
    }

    fn result(&self, tracker: &ConditionTracker, spans: &PhaseWindows) -> ThresholdResult {
        let reckoning = tracker.evaluate(spans, self.sealed);
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

const fn opposite(op: Op) -> Op {
    match op {
        Op::Equal => Op::NotEqual,
        Op::NotEqual => Op::Equal,
        Op::Less => Op::GreaterEqual,
        Op::LessEqual => Op::Greater,
        Op::Greater => Op::LessEqual,
        Op::GreaterEqual => Op::Less,
    }
}
