//! [`ConditionTracker`]: everything one condition needs, gathered second by second.

use wavetank_plan::{Condition, Key, LatencyPart, Plan, RequestCounter, Subject, Value};
use wavetank_units::{Nanos, Sentence, phrase};

use crate::condition_outcome::{ConditionOutcome, record_worst};
use crate::condition_scope::ConditionScope;
use crate::generator_excuses::GeneratorExcuses;
use crate::host_gauges::HostGauges;
use crate::outcome::{ConditionResult, Scope, contains_lag};
use crate::sample::{ConditionCounts, ConditionSample};
use crate::skews::RendezvousSkew;
use crate::sliding::SlidingWindow;
use crate::subject_count::{drops_by_generator, generator_drops, message_count, subject_count};
use crate::{Histogram, HostSample, Interval, PhaseWindows, StepSeries};

#[derive(Clone, Debug)]
pub(crate) struct ConditionTracker {
    pub(crate) condition: Condition,
    pub(crate) implicit: bool,
    /// Only this phase; `Some(u16::MAX)` where the plan has none of that name.
    phase: Option<u16>,
    /// Only what belongs to this.
    named: ConditionScope,
    planned: u64,
    whole: ConditionSample,
    sliding: Option<SlidingWindow>,
    gauge: Gauge,
    skews: RendezvousSkew,
    /// The state of a condition on hosts.
    hosts: Option<HostGauges>,
    /// The worst window so far, with its start.
    worst: Option<(Nanos, ConditionResult)>,
    /// Whether all failing windows would pass without lag, and without the generator's failures.
    excuses: GeneratorExcuses,
    second: ConditionSample,
}

/// A gauge at the seals of the span.
#[derive(Clone, Debug, Default)]
struct Gauge {
    /// How long the condition has been violated, without a break.
    broken_for: Nanos,
    seals: u64,
}

impl ConditionTracker {
    pub(crate) fn new(condition: &Condition, implicit: bool, plan: &Plan, planned: u64) -> Self {
        let index = |name: &String| plan.phases.iter().position(|phase| phase.name == *name);
        let sliding =
            condition.window.filter(|_| gauge_of(&condition.subject).is_none()).map(SlidingWindow::new);
        Self {
            phase: condition.phase.as_ref().map(|name| index(name).map_or(u16::MAX, |ix| ix as u16)),
            named: ConditionScope::resolve(&condition.subject, plan),
            condition: condition.clone(),
            implicit,
            planned,
            whole: ConditionSample::default(),
            sliding,
            gauge: Gauge::default(),
            skews: RendezvousSkew::default(),
            hosts: match &condition.subject {
                Subject::Host(gauge, pattern) => Some(HostGauges::new(*gauge, pattern)),
                _ => None,
            },
            worst: None,
            excuses: GeneratorExcuses::default(),
            second: ConditionSample::default(),
        }
    }

    /// Adds a sample of the host `name`.
    pub(crate) fn add_host(&mut self, name: &str, sample: &HostSample, spans: &PhaseWindows) {
        if let Some(hosts) = &mut self.hosts {
            let phase = self.phase;
            hosts.add(&self.condition, name, sample, |at| spans.is_holding_at(phase, at));
        }
    }

    /// Adds one sealed interval.
    pub(crate) fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        if self.hosts.is_some() {
            return;
        }
        if let ConditionScope::Place(place) = self.named {
            let judged = |phase| self.phase.map_or(!spans.is_warmup(phase), |only| only == phase);
            return self.skews.add(&self.condition, place, interval, judged);
        }
        let time = spans.time_in(self.phase, interval);
        if let Some(gauge) = gauge_of(&self.condition.subject) {
            if time > Nanos::ZERO {
                self.add_gauge(gauge(interval), interval);
            }
            return;
        }
        let mut second = std::mem::take(&mut self.second);
        second.clear();
        self.take(interval, spans, time, &mut second);
        self.whole.add(&second);
        if let Some(sliding) = &mut self.sliding {
            if time > Nanos::ZERO {
                sliding.push(interval.from, &second);
                if let Some((from, sample)) = sliding.full() {
                    let scope = Scope { windowed: true, planned: self.planned };
                    let outcome = ConditionResult::evaluate(&self.condition, sample, scope);
                    self.excuses.note(&outcome);
                    record_worst(&mut self.worst, from, outcome, &self.condition);
                }
            } else {
                sliding.push_after(&second);
            }
        }
        self.second = second;
    }

    /// Whether its subject is a time.
    pub(crate) const fn uses_times(&self) -> bool {
        part_of(&self.condition.subject).is_some()
    }

    /// Whether it is judged over windows.
    pub(crate) const fn is_windowed(&self) -> bool {
        self.sliding.is_some()
    }

    /// Adds times without counts, after the counts of the same intervals. Not for windows.
    pub(crate) fn add_times(&mut self, times: &Interval, spans: &PhaseWindows) {
        if self.uses_times() && !self.is_windowed() && !matches!(self.named, ConditionScope::Place(_)) {
            let mut sample = ConditionSample::default();
            self.take(times, spans, Nanos::ZERO, &mut sample);
            self.whole.add(&sample);
        }
    }

    /// Whether the condition is violated at this seal. For the opposite of a stop condition this
    /// means that the stop condition fires.
    pub(crate) fn fires(&self, interval: &Interval, spans: &PhaseWindows) -> bool {
        if let Some(hosts) = &self.hosts {
            return hosts.is_broken(&self.condition);
        }
        match self.named {
            ConditionScope::Place(_) => return self.skews.is_violated(),
            ConditionScope::Nothing(_) => return false,
            _ => {}
        }
        if spans.time_in(self.phase, interval) == Nanos::ZERO {
            return false;
        }
        let scope = Scope { windowed: self.condition.window.is_some(), planned: self.planned };
        if gauge_of(&self.condition.subject).is_some() {
            // Without a window one second is enough.
            return self.gauge.broken_for >= self.condition.window.unwrap_or(Nanos(1));
        }
        let outcome = match &self.sliding {
            Some(sliding) => {
                sliding.full().map(|(_, sample)| ConditionResult::evaluate(&self.condition, sample, scope))
            }
            None => Some(ConditionResult::evaluate(&self.condition, &self.whole, scope)),
        };
        outcome.is_some_and(|outcome| outcome.ok == Some(false))
    }

    /// Returns the result after the run has ended. `spans` contains the final length of the span.
    pub(crate) fn evaluate(&self, spans: &PhaseWindows, now: Nanos) -> ConditionOutcome {
        let undecided =
            |why: Sentence| ConditionOutcome { outcome: ConditionResult::undecided(why), at: None };
        if self.phase == Some(u16::MAX) {
            return undecided(phrase!("no phase of that name"));
        }
        if let Some(hosts) = &self.hosts {
            return hosts.result(&self.condition);
        }
        match &self.named {
            ConditionScope::Nothing(why) => return undecided(why.clone()),
            ConditionScope::Place(_) => {
                let (at, outcome) = self.skews.worst(&self.condition);
                return ConditionOutcome { outcome, at };
            }
            _ => {}
        }
        if gauge_of(&self.condition.subject).is_some() {
            if self.gauge.seals == 0 {
                return undecided(phrase!("no sample"));
            }
        } else if self.sliding.is_none() {
            let mut whole = self.whole.clone();
            whole.tally.time =
                self.phase.map_or(spans.window_length(now), |phase| spans.phase_length(phase, now));
            let scope = Scope { windowed: false, planned: self.planned };
            let outcome = ConditionResult::evaluate(&self.condition, &whole, scope);
            return ConditionOutcome { outcome, at: None };
        }
        let (mut worst, mut excuses) = (self.worst.clone(), self.excuses.clone());
        // A rate has no drain; everything else that arrived late belongs to the last window.
        let drained = self.sliding.as_ref().filter(|_| !matches!(self.condition.value, Value::PerSecond(_)));
        if let Some((from, sample)) = drained.and_then(SlidingWindow::last_with_after) {
            let scope = Scope { windowed: true, planned: self.planned };
            let outcome = ConditionResult::evaluate(&self.condition, &sample, scope);
            excuses.note(&outcome);
            record_worst(&mut worst, from, outcome, &self.condition);
        }
        let Some((at, mut outcome)) = worst else {
            return undecided(phrase!("no window of that length was measured"));
        };
        if outcome.ok == Some(false) {
            outcome.holds_without_lag = excuses.without_lag;
            outcome.holds_without_generator = excuses.without_generator;
            outcome.lag_ns = excuses.lag_ns;
        }
        ConditionOutcome { outcome, at: Some(at) }
    }

    fn add_gauge(&mut self, value: u64, interval: &Interval) {
        let scope = Scope { windowed: false, planned: self.planned };
        let outcome = ConditionResult::evaluate_gauge(&self.condition, value, scope);
        self.gauge.seals += 1;
        self.gauge.broken_for =
            if outcome.ok == Some(false) { self.gauge.broken_for + interval.len } else { Nanos::ZERO };
        record_worst(&mut self.worst, interval.from, outcome, &self.condition);
    }

    /// Extracts the data of `interval` that this condition needs.
    fn take(&self, interval: &Interval, spans: &PhaseWindows, time: Nanos, into: &mut ConditionSample) {
        into.tally.time = time;
        if is_of_connections(&self.condition.subject) {
            self.take_connections(interval, spans, time, &mut into.tally);
            return;
        }
        if let Some(count) = message_count(&self.condition.subject) {
            let wanted = |phase: u16| self.phase.map_or(!spans.is_warmup(phase), |only| only == phase);
            let all = interval.targets.iter().filter(|series| wanted(series.phase)).map(count).sum();
            into.tally.count = all;
            into.tally.count_without_generator = all;
            return;
        }
        let full = interval.has_saturated_thread();
        let timed = time > Nanos::ZERO;
        for series in interval.steps.iter().filter(|series| self.wants(series.key, spans)) {
            self.take_step(series, full, timed, into);
        }
        self.take_journeys(interval, spans, timed, into);
        if let Some(part) = part_of(&self.condition.subject) {
            self.take_times(part, interval, spans, into);
        }
    }

    fn take_step(&self, series: &StepSeries, full: bool, timed: bool, into: &mut ConditionSample) {
        let counters = &series.counters;
        let (count, without) = subject_count(&self.condition.subject, series, full);
        let dropped_by_generator = generator_drops(counters, full);
        into.tally.add(&ConditionCounts {
            offered: counters.offered,
            resolved: counters.done + counters.failed() + counters.dropped(),
            dropped: counters.dropped(),
            dropped_by_generator,
            count,
            count_without_generator: without,
            timed: if timed { count } else { 0 },
            timed_without_generator: if timed { without } else { 0 },
            time: Nanos::ZERO,
        });
        match part_of(&self.condition.subject) {
            // A group's time is its own.
            Some(_) if matches!(self.named, ConditionScope::Groups(..)) => {}
            Some(LatencyPart::Response) => into.times.merge(&series.response),
            Some(LatencyPart::Service) => into.times.merge(&series.service),
            _ => {}
        }
    }

    /// Checks, counts and groups, and sessions that never began.
    fn take_journeys(
        &self,
        interval: &Interval,
        spans: &PhaseWindows,
        timed: bool,
        into: &mut ConditionSample,
    ) {
        let journeys = &interval.journeys;
        let in_phase = |phase: u16| self.phase.map_or(!spans.is_warmup(phase), |only| only == phase);
        for series in journeys.asked.iter().filter(|series| in_phase(series.key.phase)) {
            into.tally.add_count(self.named.counted(series), timed);
        }
        for series in journeys.groups.iter().filter(|series| in_phase(series.phase)) {
            if self.named.matches_group(series) {
                into.times.merge(&series.times);
            }
        }
        // The requests of dropped sessions are not offered, but conditions on drops or on the
        // waiting time of all requests include them.
        let of_drops = matches!(self.condition.subject, Subject::Requests(RequestCounter::Dropped, _));
        if self.named != ConditionScope::All || !of_drops && part_of(&self.condition.subject).is_none() {
            return;
        }
        let full = interval.has_saturated_thread();
        for series in journeys.sessions.iter().filter(|series| in_phase(series.phase)) {
            let dropped = series.counts.dropped();
            let by_generator = drops_by_generator(&series.counts.dropped_by, full);
            into.tally.add_dropped(dropped, by_generator, of_drops, timed);
        }
    }

    fn take_times(
        &self,
        part: LatencyPart,
        interval: &Interval,
        spans: &PhaseWindows,
        into: &mut ConditionSample,
    ) {
        let wanted = |phase: u16| self.phase.map_or(!spans.is_warmup(phase), |only| only == phase);
        for series in interval.phases.iter().filter(|series| wanted(series.phase)) {
            let times: Option<&Histogram> = match part {
                LatencyPart::Wait => Some(&series.wait),
                LatencyPart::Lag => Some(&series.lag),
                LatencyPart::Ttfb => Some(&series.ttfb),
                LatencyPart::Transfer => Some(&series.transfer),
                LatencyPart::Failed => Some(&series.failed),
                LatencyPart::Response
                | LatencyPart::Service
                | LatencyPart::Connect
                | LatencyPart::Tls
                | LatencyPart::Hello
                | LatencyPart::Ping => None,
            };
            if let Some(times) = times {
                into.times.merge(times);
            }
            if contains_lag(part) {
                into.lag.merge(&series.lag);
            }
        }
        for series in interval.targets.iter().filter(|series| wanted(series.phase)) {
            match part {
                LatencyPart::Connect => into.times.merge(&series.connect),
                LatencyPart::Tls => into.times.merge(&series.tls),
                LatencyPart::Hello => into.times.merge(&series.hello),
                LatencyPart::Ping => into.times.merge(&series.ping),
                _ => {}
            }
        }
    }

    fn take_connections(
        &self,
        interval: &Interval,
        spans: &PhaseWindows,
        time: Nanos,
        tally: &mut ConditionCounts,
    ) {
        let conns = &interval.conns;
        let in_span = match (&self.condition.subject, self.phase) {
            (Subject::Lost, _) => time > Nanos::ZERO,
            (_, Some(phase)) => spans.in_opening(phase, interval),
            (_, None) => true,
        };
        if !in_span {
            return;
        }
        tally.offered = conns.offered;
        tally.resolved = conns.opened + conns.failed;
        tally.count = match self.condition.subject {
            Subject::Opened => conns.opened,
            Subject::ConnectionsFailed => conns.failed,
            _ => conns.lost,
        };
        tally.count_without_generator = tally.count;
        tally.timed = if time > Nanos::ZERO { tally.count } else { 0 };
        tally.timed_without_generator = tally.timed;
    }

    fn wants(&self, key: Key, spans: &PhaseWindows) -> bool {
        self.phase.map_or(!spans.is_warmup(key.phase), |phase| phase == key.phase) && self.named.includes(key)
    }
}

fn gauge_of(subject: &Subject) -> Option<fn(&Interval) -> u64> {
    match subject {
        Subject::Users => Some(|interval| interval.users),
        Subject::InFlight => Some(|interval| interval.steps.iter().map(|series| series.open).sum()),
        Subject::Held => Some(|interval| interval.conns.open),
        _ => None,
    }
}

const fn is_of_connections(subject: &Subject) -> bool {
    matches!(subject, Subject::Opened | Subject::ConnectionsFailed | Subject::Lost)
}

const fn part_of(subject: &Subject) -> Option<LatencyPart> {
    match subject {
        Subject::Percentile(_, part, _)
        | Subject::Mean(part, _)
        | Subject::Min(part, _)
        | Subject::Max(part, _) => Some(*part),
        _ => None,
    }
}
