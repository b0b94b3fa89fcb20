//! [`StallDetector`]: detects stretches in which responses are due but none arrive.
//!
//! Silence alone proves nothing: responses may take that long, no request may have been sent, or
//! the load threads may not have polled their sockets. Each of these is ruled out by the counters
//! of sealed intervals. Histograms are not needed, so an archive read without them gives the same
//! result.

use wavetank_plan::{Key, Plan};
use wavetank_units::Nanos;

use crate::subject_count::generator_drops;
use crate::{Interval, PhaseWindows, RequestCounters, Stall, Stalls};

/// Minimum number of waiting requests: fewer may each have an individual delay.
const WAITING_MIN: u64 = 10;
/// Minimum length: one whole interval, minus the longest tolerated turn of a load thread. A phase
/// may end inside an interval, which is then too short on its own.
const LEN_MIN: Nanos = Nanos::from_millis(900);
/// Requests must have waited at least this multiple of the time that requests of their steps
/// usually take.
const TIMES_USUAL: u128 = 3;
/// The usual duration of a step is known once this many of its requests have ended.
const ENDED_MIN: u64 = 20;
/// If this many of a hundred users wait for a response, no users are left to send requests.
const WAITING_USERS_PERCENT: u64 = 90;
/// A thread with a turn this long, in nanoseconds, may have read responses too late.
const TURN_MAX: u64 = 100_000_000;
/// A turn at the end of the silence that is at least this long, in nanoseconds, is subtracted from
/// it: responses may have come during the turn.
const OWN_TURN_MIN: u64 = 10_000_000;

/// Detects stretches of whole intervals in which nothing ended although enough requests were
/// waiting. Keeps a few numbers for each step of the plan.
#[derive(Clone, Debug)]
pub(crate) struct StallDetector {
    /// By phase.
    open_model: Vec<bool>,
    /// In the order of their names.
    steps: Vec<Step>,
    facts: Stalls,
    stretch: Option<Stretch>,
    /// The latest seal.
    sealed: Option<Nanos>,
    /// Until then a load thread may not have polled its sockets.
    blind_until: Nanos,
    /// Users at the latest seal, and the most at any.
    users: u64,
    users_max: u64,
    /// Requests open at the latest seal for which users wait (closed loop).
    open_of_users: u64,
}

/// One step in all phases. The duration of its requests depends on the step more than on the phase.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// Scenario and step.
    name: (u16, u16),
    usual: Usual,
    /// Counts of the latest interval that was not silent. A stall may have started in it, so it is
    /// added to `usual` only with the next interval that is not silent.
    latest: Usual,
    /// Open at the latest seal, and at the one before.
    open: u64,
    open_before: u64,
    /// Offered in the latest interval.
    offered: u64,
    /// Counts in the current silent stretch.
    here: InStretch,
}

/// How long requests of a step take, by Little's law.
#[derive(Clone, Copy, Debug, Default)]
struct Usual {
    /// Requests that ended.
    ended: u64,
    /// Requests open at each seal times its interval, in nanoseconds.
    waited: u128,
}

/// Counts of one step in the current silent stretch.
#[derive(Clone, Copy, Debug, Default)]
struct InStretch {
    /// Open when it began.
    open: u64,
    /// Offered in the stretch, without its latest interval: those may have started at its very end.
    offered: u64,
    /// Offered in its latest interval.
    offered_last: u64,
    /// As [`Usual::waited`].
    waited: u128,
}

/// The current stretch of intervals in which nothing ended.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Nanos,
    until: Nanos,
    /// Requests open at `until`.
    open: u64,
    /// The longest turn of its latest interval.
    turn: u64,
}

/// The counts of an interval, all steps together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    ended: u64,
    offered: u64,
    open: u64,
    open_of_users: u64,
}

impl StallDetector {
    /// Creates one for a run of `plan`.
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            open_model: plan.phases.iter().map(|phase| phase.load.is_open()).collect(),
            steps: Vec::new(),
            facts: Stalls::default(),
            stretch: None,
            sealed: None,
            blind_until: Nanos(i64::MIN),
            users: 0,
            users_max: 0,
            open_of_users: 0,
        }
    }

    /// Adds one merged interval; intervals arrive in order. `spans` are those of the totals.
    pub(crate) fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        let sum = self.sum(interval);
        let turn = interval.threads.iter().map(|health| health.turn_ns_max).max().unwrap_or(0);
        let in_window = interval.len > Nanos::ZERO && spans.time_in(None, interval) == interval.len;
        let silent = in_window && self.is_silent(interval, &sum, turn);
        if !silent {
            self.close(turn);
            self.steps.iter_mut().for_each(Step::take_for_usual);
        }
        self.take(interval);
        if silent {
            self.go_on(interval, &sum, turn);
        } else {
            self.steps.iter_mut().for_each(|step| step.latest.waited = waited(step.open, interval.len));
        }
        if in_window {
            self.facts.ended += sum.ended;
            self.facts.window = self.facts.window.after(interval.len);
        }
        if turn >= TURN_MAX {
            self.blind_until = self.blind_until.max(interval.end().after(length(turn)));
        }
        self.sealed = Some(interval.end());
        (self.users, self.open_of_users) = (interval.users, sum.open_of_users);
        self.users_max = self.users_max.max(interval.users);
    }

    /// Returns the facts known so far; final when the run is over.
    pub(crate) fn facts(&self) -> Stalls {
        let mut facts = self.facts;
        if let Some(found) = self.stretch.and_then(|stretch| self.judge(&stretch, 0)) {
            facts.add(found);
        }
        facts
    }

    fn sum(&self, interval: &Interval) -> Sum {
        let mut sum = Sum::default();
        for series in &interval.steps {
            sum.ended += series.counters.done + series.counters.failed();
            sum.offered += offered(&series.counters);
            sum.open += series.open;
            if self.open_model.get(usize::from(series.key.phase)) == Some(&false) {
                sum.open_of_users += series.open;
            }
        }
        sum
    }

    /// Whether nothing ended although requests waited during the whole interval, the load
    /// continued, and the generator looked.
    fn is_silent(&self, interval: &Interval, sum: &Sum, turn: u64) -> bool {
        let follows = self.sealed == Some(interval.from) && self.steps.iter().any(|step| step.open > 0);
        let looked = interval.from >= self.blind_until
            && turn < TURN_MAX
            && !interval.has_saturated_thread()
            && interval.threads.iter().all(|health| health.starved_turns == 0);
        follows
            && sum.ended == 0
            && sum.open > 0
            && looked
            && (sum.offered > 0 || self.all_users_wait(interval))
    }

    /// Whether all users wait, so that none can send another request. When users leave one after
    /// the other, the last ones may just be slow, so at least half of the maximum must be present.
    fn all_users_wait(&self, interval: &Interval) -> bool {
        let users = self.users.max(interval.users);
        users > 0
            && users.saturating_mul(2) >= self.users_max
            && self.open_of_users * 100 >= users * WAITING_USERS_PERCENT
    }

    /// Adds the counts of each step in the interval.
    fn take(&mut self, interval: &Interval) {
        for step in &mut self.steps {
            (step.open_before, step.open, step.offered) = (step.open, 0, 0);
        }
        for series in &interval.steps {
            let counters = &series.counters;
            let step = self.step(series.key);
            step.open += series.open;
            step.latest.ended += counters.done + counters.failed();
            step.offered += offered(counters);
        }
    }

    /// Adds the interval to the current stretch, or starts one with it.
    fn go_on(&mut self, interval: &Interval, sum: &Sum, turn: u64) {
        let begins = self.stretch.is_none();
        for step in &mut self.steps {
            if begins {
                step.here = InStretch { open: step.open_before, ..InStretch::default() };
            }
            step.here.offered += std::mem::replace(&mut step.here.offered_last, step.offered);
            step.here.waited += waited(step.open, interval.len);
        }
        let from = self.stretch.map_or(interval.from, |stretch| stretch.from);
        self.stretch = Some(Stretch { from, until: interval.end(), open: sum.open, turn });
    }

    /// Ends the current stretch. The longest turn of the interval after it was `turn`.
    fn close(&mut self, turn: u64) {
        let Some(stretch) = self.stretch.take() else { return };
        match self.judge(&stretch, turn) {
            Some(found) => self.facts.add(found),
            // It was nothing unusual, so it is part of what is usual.
            None => self.steps.iter_mut().for_each(|step| step.usual.waited += step.here.waited),
        }
    }

    /// Returns the stall if chance and slow responses cannot explain the silence.
    fn judge(&self, stretch: &Stretch, turn_after: u64) -> Option<Stall> {
        let turn = stretch.turn.max(turn_after);
        let own = if turn >= OWN_TURN_MIN { length(turn) } else { Nanos::ZERO };
        let len = Nanos(stretch.until.0.saturating_sub(own.0).saturating_sub(stretch.from.0));
        let known = self.steps.iter().filter(|step| step.is_answered_within(len));
        let waiting: u64 = known.map(|step| step.here.open + step.here.offered).sum();
        (len >= LEN_MIN && waiting >= WAITING_MIN).then_some(Stall {
            from: stretch.from,
            len,
            open: stretch.open,
            open_at: stretch.until,
        })
    }

    fn step(&mut self, key: Key) -> &mut Step {
        let name = (key.scenario, key.step);
        let at = self.steps.binary_search_by_key(&name, |step| step.name).unwrap_or_else(|at| {
            self.steps.insert(at, Step { name, ..Step::default() });
            at
        });
        &mut self.steps[at]
    }
}

impl Step {
    /// Whether `len` is at least [`TIMES_USUAL`] times the usual duration of its requests.
    fn is_answered_within(&self, len: Nanos) -> bool {
        let len = u128::from(len.0.max(0).unsigned_abs());
        let Usual { ended, waited } = self.usual;
        ended >= ENDED_MIN && TIMES_USUAL * waited <= len * u128::from(ended)
    }

    fn take_for_usual(&mut self) {
        let latest = std::mem::take(&mut self.latest);
        self.usual.ended += latest.ended;
        self.usual.waited += latest.waited;
    }
}

/// Offered requests, without those that the generator dropped for its own reasons.
fn offered(counters: &RequestCounters) -> u64 {
    counters.offered.saturating_sub(generator_drops(counters, false))
}

fn waited(open: u64, len: Nanos) -> u128 {
    u128::from(open) * u128::from(len.0.max(0).unsigned_abs())
}

fn length(ns: u64) -> Nanos {
    Nanos(i64::try_from(ns).unwrap_or(i64::MAX))
}
