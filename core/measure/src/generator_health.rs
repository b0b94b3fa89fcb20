//! [`GeneratorHealthTracker`]: collects facts about the generator's accuracy.

use std::collections::VecDeque;

use wavetank_plan::Plan;
use wavetank_plan::constants::VALIDITY_WINDOW;
use wavetank_units::Nanos;

use crate::subject_count::{drops_by_generator, generator_drops};
use crate::{DropReason, Fraction, GeneratorHealth, Interval, PhaseWindows, ThreadLoad, WindowShare};

/// Collects facts about the generator's accuracy, second by second;
/// [`GeneratorHealthTracker::facts`] returns them.
#[derive(Clone, Debug)]
pub struct GeneratorHealthTracker {
    open_model: Vec<bool>,
    facts: GeneratorHealth,
    seconds: VecDeque<Second>,
    /// Sum over `seconds`.
    window: Second,
    slid: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    from: Nanos,
    len: Nanos,
    offered: u64,
    resolved: u64,
    late: u64,
    open_offered: u64,
    open_generator: u64,
}

impl GeneratorHealthTracker {
    /// Creates one for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let open_model = plan.phases.iter().map(|phase| phase.load.is_open()).collect();
        let (facts, window) = (GeneratorHealth::default(), Second::default());
        Self { open_model, facts, seconds: VecDeque::new(), window, slid: false }
    }

    /// Adds one merged interval; intervals arrive in order. `spans` are those of the totals.
    pub fn add(&mut self, interval: &Interval, spans: &PhaseWindows) {
        let second = self.take(interval, spans);
        if !spans.in_window(interval) {
            return;
        }
        self.facts.late_seconds.of += 1;
        self.facts.late_seconds.count += u64::from(second.late > 0);
        for health in &interval.threads {
            self.facts.stalled_turns.add(health.stalled_turns, health.turns);
            self.facts.starved_turns.add(health.starved_turns, health.turns);
            let load = self.thread(health.name());
            load.intervals += 1;
            load.full += u64::from(health.is_full(interval.len));
        }
        self.slide(second);
    }

    /// Returns the facts known so far; final when the run is over.
    pub fn facts(&self) -> GeneratorHealth {
        let mut facts = self.facts.clone();
        if !self.slid {
            // Shorter than one window: all of it is the worst.
            self.window.weigh(self.seconds.front().map_or(Nanos::ZERO, |first| first.from), &mut facts);
        }
        facts
    }

    /// Count what concerns the run as a whole, and say what the second is made of.
    fn take(&mut self, interval: &Interval, spans: &PhaseWindows) -> Second {
        let mut second = Second { from: interval.from, len: interval.len, ..Second::default() };
        let full = interval.has_saturated_thread();
        for series in interval.steps.iter().filter(|series| !spans.is_warmup(series.key.phase)) {
            let counters = &series.counters;
            let dropped = generator_drops(counters, full);
            let failed = counters.failed_by_generator();
            self.facts.generator_dropped.add(dropped, counters.offered);
            self.facts.generator_failed.add(failed, counters.offered);
            if full {
                self.facts.max_open_while_full += counters.dropped_by[DropReason::MaxOpen as usize];
            }
            second.offered += counters.offered;
            second.resolved += counters.done + counters.failed();
            second.late += counters.late;
            if self.open_model.get(usize::from(series.key.phase)).is_some_and(|&open| open) {
                self.facts.generator_open_model.add(dropped + failed, counters.offered);
                second.open_offered += counters.offered;
                second.open_generator += dropped + failed;
            }
        }
        // A session that never began is as bad as a request that was never sent.
        let sessions = interval.journeys.sessions.iter().filter(|series| !spans.is_warmup(series.phase));
        for series in sessions.filter(|series| series.counts.dropped() > 0) {
            let dropped = drops_by_generator(&series.counts.dropped_by, full);
            let of = series.counts.dropped();
            self.facts.generator_dropped.add(dropped, of);
            if full {
                self.facts.max_open_while_full += series.counts.dropped_by[DropReason::MaxOpen as usize];
            }
            if self.open_model.get(usize::from(series.phase)).is_some_and(|&open| open) {
                self.facts.generator_open_model.add(dropped, of);
                second.open_offered += of;
                second.open_generator += dropped;
            }
        }
        second
    }

    fn slide(&mut self, second: Second) {
        self.seconds.push_back(second);
        self.window.add(&second);
        while let Some(first) = self.seconds.front()
            && self.window.len - first.len >= VALIDITY_WINDOW
        {
            self.window.take_away(first);
            self.seconds.pop_front();
        }
        if self.window.len >= VALIDITY_WINDOW {
            self.slid = true;
            let from = self.seconds.front().map_or(second.from, |first| first.from);
            self.window.weigh(from, &mut self.facts);
        }
    }

    fn thread(&mut self, name: (u16, u16)) -> &mut ThreadLoad {
        let threads = &mut self.facts.threads;
        let at = threads.binary_search_by_key(&name, |load| (load.agent, load.thread)).unwrap_or_else(|at| {
            let (agent, thread) = name;
            threads.insert(at, ThreadLoad { agent, thread, ..ThreadLoad::default() });
            at
        });
        &mut threads[at]
    }
}

impl Second {
    /// Take this window's shares where they are worse than the worst so far.
    fn weigh(&self, from: Nanos, facts: &mut GeneratorHealth) {
        let worse = |worst: &mut WindowShare, count: u64, of: u64| {
            let share = Fraction { count, of };
            if share.fraction() > worst.share.fraction() || worst.len == Nanos::ZERO {
                *worst = WindowShare { share, from, len: self.len };
            }
        };
        // Late requests count when they are resolved. After a pause of the target many are resolved
        // in one interval, while few are offered.
        worse(&mut facts.late_worst, self.late, self.offered.max(self.resolved));
        worse(&mut facts.generator_worst, self.open_generator, self.open_offered.max(self.open_generator));
    }

    fn add(&mut self, other: &Self) {
        self.each(other, |mine, theirs| mine + theirs);
        self.len += other.len;
    }

    fn take_away(&mut self, other: &Self) {
        self.each(other, |mine, theirs| mine - theirs);
        self.len = self.len - other.len;
    }

    fn each(&mut self, other: &Self, combine: impl Fn(u64, u64) -> u64) {
        self.offered = combine(self.offered, other.offered);
        self.resolved = combine(self.resolved, other.resolved);
        self.late = combine(self.late, other.late);
        self.open_offered = combine(self.open_offered, other.open_offered);
        self.open_generator = combine(self.open_generator, other.open_generator);
    }
}
