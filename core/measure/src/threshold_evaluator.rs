//! [`ThresholdEvaluator`]: thresholds and stop conditions, second by second.

use wavetank_plan::{Condition, Nanos, Op, Plan};

use crate::threshold::{Threshold, ThresholdResult};
use crate::totals::planned_connections;
use crate::tracker::ConditionTracker;
use crate::{HostSample, Interval, PhaseWindows};

/// Thresholds and stop conditions, judged second by second as intervals are sealed. Windows keep only
/// what happened in them, so its memory does not grow with the run.
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
    /// As it stood then.
    result: ThresholdResult,
}

impl ThresholdEvaluator {
    /// Of the plan's thresholds, the implicit ones among them, and its stop conditions.
    pub fn new(plan: &Plan) -> Self {
        let planned = planned_connections(plan);
        let tracker = |threshold: Threshold| {
            ConditionTracker::new(&threshold.condition, threshold.implicit, plan, planned)
        };
        // A stop condition is watched as its opposite, which must hold: then one reading of uncertainty and of
        // the generator's part serves both.
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

    /// Take in one merged interval; they come in order. `spans` are those of the totals.
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

    /// Take in how the host called `name` stood at one instant; samples of one host come in order. Stop conditions are
    /// looked at with the next interval.
    pub fn observe_host(&mut self, name: &str, sample: &HostSample, spans: &PhaseWindows) {
        let all = self.thresholds.iter_mut().chain(&mut self.stops);
        all.for_each(|tracker| tracker.add_host(name, sample, spans));
    }

    /// Whether it matters in which second a time was measured.
    pub(crate) fn needs_windowed_latency(&self) -> bool {
        self.stops.iter().any(ConditionTracker::uses_times)
            || self.thresholds.iter().any(|tracker| tracker.uses_times() && tracker.is_windowed())
    }

    /// Take in the times, and nothing else, of intervals that were added without theirs.
    pub(crate) fn add_times(&mut self, times: &Interval, spans: &PhaseWindows) {
        self.thresholds.iter_mut().for_each(|tracker| tracker.add_times(times, spans));
    }

    /// The first stop condition that was true, and the seal at which it was.
    pub fn stop_fired(&self) -> Option<(&str, Nanos)> {
        self.fired.as_ref().map(|fired| (self.stops[fired.stop].condition.text.as_str(), fired.at))
    }

    /// The stop condition that fired, as it stood then, in the form of a broken threshold: `condition` is its
    /// opposite, which had to hold; `expr` is as written.
    pub fn stop_result(&self) -> Option<ThresholdResult> {
        self.fired.as_ref().map(|fired| fired.result.clone())
    }

    /// All thresholds, the user's first, as they stand: final when the run is over.
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
