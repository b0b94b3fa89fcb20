//! [`ConditionResult`]: the result of one condition over one period of time.

use wavetank_plan::{Condition, LatencyPart, Op, Subject, Value};
use wavetank_units::quantity::format_grouped;
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::sample::{ConditionCounts, ConditionSample};
use crate::{Histogram, view::per_second};

/// Samples decide a condition on a percentile if they are less likely than this by chance.
const CHANCE_MAX: f64 = 0.001;

/// The result of one condition over one period of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ConditionResult {
    /// In the unit of the condition's value.
    pub(crate) value: Option<f64>,
    /// Holds, does not, or cannot be said.
    pub(crate) ok: Option<bool>,
    /// Why there is no value or no result.
    pub(crate) why: Option<Sentence>,
    /// Lag at the same percentile, where the value contains lag.
    pub(crate) lag_ns: Option<u64>,
    /// Only if the condition is violated.
    pub(crate) holds_without_lag: Option<bool>,
    /// Only if the condition is violated.
    pub(crate) holds_without_generator: Option<bool>,
}

/// The kind of time range that is evaluated: `%` has other denominators in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) windowed: bool,
    /// The highest number of connections that the plan schedules at one time.
    pub(crate) planned: u64,
}

/// The statistic to take from a histogram.
#[derive(Clone, Copy)]
enum Statistic {
    Percentile(f64),
    Mean,
    Min,
    Max,
}

impl ConditionResult {
    /// Judge `condition` on `sample`.
    pub(crate) fn evaluate(condition: &Condition, sample: &ConditionSample, scope: Scope) -> Self {
        match condition.subject {
            Subject::Percentile(q, part, _) => {
                of_times(condition, Statistic::Percentile(q), part, sample, scope)
            }
            Subject::Mean(part, _) => of_times(condition, Statistic::Mean, part, sample, scope),
            Subject::Min(part, _) => of_times(condition, Statistic::Min, part, sample, scope),
            Subject::Max(part, _) => of_times(condition, Statistic::Max, part, sample, scope),
            _ => of_counts(condition, &sample.tally, scope),
        }
    }

    /// Judge `condition` on a gauge's value at one seal.
    pub(crate) fn evaluate_gauge(condition: &Condition, gauge: u64, scope: Scope) -> Self {
        let value = match condition.value {
            Value::Share(_) if scope.planned == 0 => {
                return Self::undecided(phrase!("the plan names no number of connections"));
            }
            Value::Share(_) => gauge as f64 / scope.planned as f64,
            _ => gauge as f64,
        };
        Self::evaluate_value(condition, value)
    }

    /// Judge `condition` on a value in its own unit.
    pub(crate) fn evaluate_value(condition: &Condition, value: f64) -> Self {
        Self { value: Some(value), ok: Some(holds(condition, value)), ..Self::default() }
    }

    pub(crate) fn undecided(why: Sentence) -> Self {
        Self { why: Some(why), ..Self::default() }
    }

    /// Whether this result is worse than `other` for `op`. A violation is worse than an undecided
    /// result, which is worse than a pass; among equals the value decides.
    pub(crate) fn is_worse_than(&self, other: &Self, op: Op) -> bool {
        let rank = |outcome: &Self| match outcome.ok {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        if rank(self) != rank(other) {
            return rank(self) < rank(other);
        }
        match (self.value, other.value) {
            (Some(mine), Some(theirs)) => match op {
                Op::Less | Op::LessEqual => mine > theirs,
                Op::Greater | Op::GreaterEqual => mine < theirs,
                Op::Equal | Op::NotEqual => false,
            },
            // Among violations, a missing value is the worst: it is beyond every number.
            (mine, theirs) => mine.is_none() && theirs.is_some(),
        }
    }
}

/// Whether `value`, in the unit of the condition, satisfies it.
fn holds(condition: &Condition, value: f64) -> bool {
    let right = match condition.value {
        Value::Time(Nanos(ns)) => ns as f64,
        Value::Count(x)
        | Value::PerSecond(x)
        | Value::Share(x)
        | Value::Bytes(x)
        | Value::BitsPerSecond(x) => x,
    };
    condition.op.holds(value, right)
}

fn of_counts(condition: &Condition, tally: &ConditionCounts, scope: Scope) -> ConditionResult {
    let denominator = match condition.subject {
        Subject::Lost => scope.planned,
        _ if scope.windowed => tally.resolved,
        _ => tally.offered,
    };
    let measure = |count: u64, timed: u64| match condition.value {
        Value::PerSecond(_) => (tally.time > Nanos::ZERO).then(|| per_second(timed, tally.time)),
        Value::Share(_) if denominator > 0 => Some(count as f64 / denominator as f64),
        // Zero of zero: no failure occurred, so any limit on the share is met.
        Value::Share(_) => (count == 0 && matches!(condition.op, Op::Less | Op::LessEqual)).then_some(0.0),
        Value::Count(_) | Value::Time(_) | Value::Bytes(_) | Value::BitsPerSecond(_) => Some(count as f64),
    };
    let Some(value) = measure(tally.count, tally.timed) else {
        return ConditionResult::undecided(phrase!("no sample"));
    };
    let ok = holds(condition, value);
    let without = || measure(tally.count_without_generator, tally.timed_without_generator);
    let matters = !ok && tally.count != tally.count_without_generator;
    let holds_without_generator = matters.then(|| without().is_some_and(|value| holds(condition, value)));
    ConditionResult {
        value: Some(value),
        ok: Some(ok),
        holds_without_generator,
        ..ConditionResult::default()
    }
}

fn of_times(
    condition: &Condition,
    asked: Statistic,
    part: LatencyPart,
    sample: &ConditionSample,
    scope: Scope,
) -> ConditionResult {
    let tally = &sample.tally;
    let lag = contains_lag(part).then(|| asked.compute(&sample.lag)).flatten();
    let whole = if scope.windowed { tally.resolved } else { tally.offered };
    if reaches_dropped(asked, part, tally.dropped, whole) {
        // A dropped request waits for ever: above every limit.
        let ok = matches!(condition.op, Op::Greater | Op::GreaterEqual | Op::NotEqual);
        let without = tally.dropped - tally.dropped_by_generator;
        let excusable = !ok && tally.dropped_by_generator > 0;
        let holds_without_generator = excusable.then(|| {
            !reaches_dropped(asked, part, without, whole)
                && asked.compute(&sample.times).is_some_and(|value| holds(condition, value))
        });
        let why = Some(sentence!(
            "it falls among dropped requests, which have no time ({} of {})",
            format_grouped(tally.dropped),
            format_grouped(whole)
        ));
        return ConditionResult { ok: Some(ok), why, holds_without_generator, ..ConditionResult::default() };
    }
    let Some(value) = asked.compute(&sample.times) else {
        return ConditionResult::undecided(phrase!("no sample"));
    };
    let ok = match asked {
        Statistic::Percentile(q) if sample.times.is_uncertain(q) => settled(condition, q, &sample.times),
        _ => Some(holds(condition, value)),
    };
    let why = ok.is_none().then(|| phrase!("uncertain: fewer than 10 samples lie above it"));
    let without_lag = (value - lag.unwrap_or(0.0)).max(0.0);
    let holds_without_lag = (ok == Some(false) && lag.is_some()).then(|| holds(condition, without_lag));
    ConditionResult {
        value: Some(value),
        ok,
        why,
        lag_ns: lag.map(|ns| ns as u64),
        holds_without_lag,
        holds_without_generator: None,
    }
}

/// Whether the percentile (or maximum) of a time from the intended start falls among the dropped
/// requests.
fn reaches_dropped(asked: Statistic, part: LatencyPart, dropped: u64, whole: u64) -> bool {
    let q = match asked {
        Statistic::Percentile(q) => q,
        Statistic::Max => 100.0,
        Statistic::Mean | Statistic::Min => return false,
    };
    matches!(part, LatencyPart::Response | LatencyPart::Lag)
        && crate::view::is_percentile_dropped(dropped, whole, q)
}

/// Decides the condition for the uncertain percentile `q`, if the samples do: both bounds of the
/// percentile give the same answer, or far more (or fewer) samples than possible by chance are
/// beyond the limit.
fn settled(condition: &Condition, q: f64, times: &Histogram) -> Option<bool> {
    let (low, high) = (holds(condition, times.min() as f64), holds(condition, times.max() as f64));
    let Value::Time(Nanos(value)) = condition.value else { return None };
    let between = (times.min() as i64..=times.max() as i64).contains(&value);
    let is_below = match condition.op {
        Op::Equal | Op::NotEqual => {
            return (!between || times.min() == times.max()).then_some(low);
        }
        Op::Less | Op::LessEqual => true,
        Op::Greater | Op::GreaterEqual => false,
    };
    if low == high {
        return Some(low);
    }
    let counts = times.iter().map(|(index, n)| {
        let value = Histogram::highest_equivalent(index).min(times.max());
        if holds(condition, value as f64) == is_below { 0 } else { n }
    });
    is_beyond(counts.sum(), times.count(), 1.0 - q / 100.0).map(|beyond| beyond != is_below)
}

/// Returns whether more than `share` of all values are beyond a limit if `beyond` of `count`
/// samples are. `None` if the number is possible by chance with exactly that share.
fn is_beyond(beyond: u64, count: u64, share: f64) -> Option<bool> {
    let (mut fewer, mut more, mut log) = (0.0, 0.0, count as f64 * (1.0 - share).ln());
    for k in 0..=count {
        if k > 0 {
            log += ((count - k + 1) as f64 / k as f64).ln() + (share / (1.0 - share)).ln();
        }
        let probability = log.exp();
        fewer += if k <= beyond { probability } else { 0.0 };
        more += if k >= beyond { probability } else { 0.0 };
    }
    match (more < CHANCE_MAX, fewer < CHANCE_MAX) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The times that begin at the intended instant; the others begin later and owe nothing to lag.
pub(crate) const fn contains_lag(part: LatencyPart) -> bool {
    matches!(part, LatencyPart::Response | LatencyPart::Lag | LatencyPart::Failed)
}

impl Statistic {
    fn compute(self, times: &Histogram) -> Option<f64> {
        if times.is_empty() {
            return None;
        }
        match self {
            Self::Percentile(q) => times.percentile(q).map(|ns| ns as f64),
            Self::Mean => Some(times.mean()),
            Self::Min => Some(times.min() as f64),
            Self::Max => Some(times.max() as f64),
        }
    }
}
