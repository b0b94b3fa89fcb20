//! [`HostGauges`]: evaluates one condition on hosts, sample by sample.
//!
//! Memory, swap, queues and established connections are values at an instant; the worst one counts.
//! CPU and network are rates, which need two samples; the mean over the span or a window counts.
//! With several hosts the worst host counts.

use std::collections::VecDeque;

use wavetank_plan::{Condition, HostGauge, Value, matches_host};
use wavetank_units::{Nanos, Sentence, phrase, sentence};

use crate::HostSample;
use crate::condition_outcome::{ConditionOutcome, record_worst};
use crate::host_sample::{GaugeSource, highest};
use crate::outcome::ConditionResult;

/// Samples arrive about once per second, so a window may be shorter than its length by less than
/// this.
const SLACK: Nanos = Nanos::from_millis(500);
/// Most hosts that one condition covers; further hosts are ignored.
const HOSTS_MAX: usize = 1_024;
/// Samples of a window at most: more than a day of them.
const WINDOW_MAX: usize = 100_000;

/// The hosts of one condition.
#[derive(Clone, Debug)]
pub(crate) struct HostGauges {
    gauge: HostGauge,
    pattern: String,
    hosts: Vec<OneHost>,
}

#[derive(Clone, Debug, Default)]
struct OneHost {
    name: String,
    /// The sample before the next one.
    before: Option<HostSample>,
    /// The worst value, or the worst window.
    worst: Option<(Nanos, ConditionResult)>,
    /// For a value: the last instant at which the condition passed, or the first one if it never
    /// did.
    held_last: Option<Nanos>,
    /// For a rate: sums over the whole span.
    whole: Vec<(f64, f64)>,
    window: VecDeque<Stretch>,
    /// For a rate: the latest window violates the condition.
    window_broken: bool,
}

/// The time from one sample to the next.
#[derive(Clone, Debug)]
struct Stretch {
    from: Nanos,
    to: Nanos,
    flow: Vec<(f64, f64)>,
}

impl HostGauges {
    pub(crate) fn new(gauge: HostGauge, pattern: &str) -> Self {
        Self { gauge, pattern: pattern.to_owned(), hosts: Vec::new() }
    }

    /// Adds a sample of the host `name`; samples of one host arrive in order. `within` returns
    /// whether an instant is in the condition's span.
    pub(crate) fn add(
        &mut self,
        condition: &Condition,
        name: &str,
        sample: &HostSample,
        within: impl Fn(Nanos) -> bool,
    ) {
        if !matches_host(&self.pattern, name) {
            return;
        }
        let known = self.hosts.iter().position(|host| host.name == name);
        let at = known.unwrap_or(self.hosts.len());
        if known.is_none() {
            if self.hosts.len() >= HOSTS_MAX {
                return;
            }
            self.hosts.push(OneHost { name: name.to_owned(), ..OneHost::default() });
        }
        let host = &mut self.hosts[at];
        match sample.reading(self.gauge) {
            GaugeSource::Level(value, all) => {
                host.level(condition, sample.at, (value, all), within(sample.at));
            }
            GaugeSource::Flow => {
                // A stretch belongs to the span that contains its middle, because samples are never
                // taken exactly on the second.
                let middle = |before: &HostSample| Nanos(before.at.0.midpoint(sample.at.0));
                let stretch = host.before.as_ref().filter(|before| within(middle(before))).map(|before| {
                    let flow = sample.rates_since(before, self.gauge);
                    Stretch { from: before.at, to: sample.at, flow }
                });
                host.flow(condition, stretch);
            }
        }
        host.before = Some(sample.clone());
    }

    /// Whether the condition, the opposite of a stop condition, is violated at the moment.
    pub(crate) fn is_broken(&self, condition: &Condition) -> bool {
        self.hosts.iter().any(|host| host.is_broken(condition, self.gauge))
    }

    /// Returns the result; with several hosts that of the worst, with its name.
    pub(crate) fn result(&self, condition: &Condition) -> ConditionOutcome {
        let mut worst: Option<(Nanos, ConditionResult)> = None;
        for host in &self.hosts {
            let (at, outcome) = host.result(condition, self.gauge);
            let why = match outcome.why {
                Some(why) => Some(sentence!("{}: {why}", host.name)),
                None if self.hosts.len() > 1 => Some(sentence!("on {}", host.name)),
                None => None,
            };
            // Without an instant it is of the whole span.
            let at = at.unwrap_or(Nanos(i64::MIN));
            record_worst(&mut worst, at, ConditionResult { why, ..outcome }, condition);
        }
        if let Some((at, outcome)) = worst {
            return ConditionOutcome { outcome, at: Some(at).filter(|at| at.0 > i64::MIN) };
        }
        let why = sentence!("no samples of {}", self.pattern);
        ConditionOutcome { outcome: ConditionResult::undecided(why), at: None }
    }
}

impl OneHost {
    fn level(&mut self, condition: &Condition, at: Nanos, (value, all): (u64, u64), within: bool) {
        let value = match condition.value {
            // The total is unknown, so there is no share.
            Value::Share(_) if all == 0 => return,
            Value::Share(_) => value as f64 / all as f64,
            _ => value as f64,
        };
        if !within {
            self.held_last = None;
            return;
        }
        let outcome = ConditionResult::evaluate_value(condition, value);
        self.held_last = match outcome.ok {
            Some(false) => {
                self.held_last.or_else(|| self.before.as_ref().map(|before| before.at)).or(Some(at))
            }
            _ => None,
        };
        record_worst(&mut self.worst, at, outcome, condition);
    }

    /// Adds one more stretch of the span. `None` means that it is outside the span, or that this is
    /// the first sample.
    fn flow(&mut self, condition: &Condition, stretch: Option<Stretch>) {
        let Some(stretch) = stretch.filter(|stretch| !stretch.flow.is_empty()) else {
            // No window extends across a gap.
            self.window.clear();
            self.window_broken = false;
            return;
        };
        add(&mut self.whole, &stretch.flow);
        let Some(length) = condition.window else { return };
        self.window.push_back(stretch);
        let covers = |from: Nanos, to: Nanos| (to - from).after(SLACK) >= length;
        while let (Some(second), Some(last)) = (self.window.get(1), self.window.back())
            && (covers(second.from, last.to) || self.window.len() > WINDOW_MAX)
        {
            self.window.pop_front();
        }
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else { return };
        let mut sum = Vec::new();
        self.window.iter().for_each(|stretch| add(&mut sum, &stretch.flow));
        let value = highest(&sum).filter(|_| covers(first.from, last.to));
        if let Some(value) = value {
            let outcome = ConditionResult::evaluate_value(condition, value);
            self.window_broken = outcome.ok == Some(false);
            let from = first.from;
            record_worst(&mut self.worst, from, outcome, condition);
        }
    }

    fn is_broken(&self, condition: &Condition, gauge: HostGauge) -> bool {
        let Some(last) = &self.before else { return false };
        match (last.reading(gauge), condition.window) {
            (GaugeSource::Level(..), window) => self
                .held_last
                .is_some_and(|since| window.is_none_or(|window| (last.at - since).after(SLACK) >= window)),
            (GaugeSource::Flow, Some(_)) => self.window_broken,
            (GaugeSource::Flow, None) => highest(&self.whole)
                .is_some_and(|value| ConditionResult::evaluate_value(condition, value).ok == Some(false)),
        }
    }

    fn result(&self, condition: &Condition, gauge: HostGauge) -> (Option<Nanos>, ConditionResult) {
        let flows = self.before.as_ref().is_some_and(|sample| sample.reading(gauge) == GaugeSource::Flow);
        if flows && condition.window.is_none() {
            let value = highest(&self.whole);
            let outcome = value.map(|value| ConditionResult::evaluate_value(condition, value));
            return (None, outcome.unwrap_or_else(|| self.unknown(gauge, phrase!("no sample"))));
        }
        match &self.worst {
            Some((at, outcome)) => (Some(*at), outcome.clone()),
            None if flows => (None, self.unknown(gauge, phrase!("no window of that length was measured"))),
            None => (None, ConditionResult::undecided(phrase!("no sample"))),
        }
    }

    /// Undecided for the reason `why`, unless nothing was to be known from the outset.
    fn unknown(&self, gauge: HostGauge, why: Sentence) -> ConditionResult {
        let uncounted = self.before.as_ref().is_some_and(|sample| sample.cores.is_empty());
        if gauge == HostGauge::HottestCore && uncounted {
            return ConditionResult::undecided(phrase!("its CPUs are not counted individually"));
        }
        ConditionResult::undecided(why)
    }
}

/// Adds up pairs of one host; where their number is another, only the newer are kept.
fn add(sum: &mut Vec<(f64, f64)>, flow: &[(f64, f64)]) {
    if sum.len() != flow.len() {
        flow.clone_into(sum);
        return;
    }
    for (mine, theirs) in sum.iter_mut().zip(flow) {
        mine.0 += theirs.0;
        mine.1 += theirs.1;
    }
}
