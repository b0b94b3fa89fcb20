//! [`Ledger`]: one book for a run: totals, thresholds, validity.

use wavetank_plan::{Nanos, Plan};

use crate::impacts::ImpactTracker;
use crate::stall_detector::StallDetector;
use crate::{
    ErrorClass, GeneratorHealth, GeneratorHealthTracker, HostSample, Impact, Interval, Observations, Stalls,
    TargetSample, ThresholdEvaluator, ThresholdResult, TotalFailureDetector, Totals, Violation,
};

/// One book for a run: every merged interval is entered once, in order, and everything that can be said of the
/// run follows from it. A live run and an archive read back keep the same book.
#[derive(Clone, Debug)]
pub struct Ledger {
    totals: Totals,
    judge: ThresholdEvaluator,
    watch: GeneratorHealthTracker,
    standstills: StallDetector,
    hopeless: TotalFailureDetector,
    violations: Vec<Violation>,
    /// Intervals are known to be missing.
    gaps: bool,
    observed: Observations,
    impacts: ImpactTracker,
}

impl Ledger {
    /// Most violations kept: the first ones tell the defect, the others repeat it each second.
    pub const VIOLATIONS_MAX: usize = 16;

    /// An empty book for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            totals: Totals::new(plan),
            judge: ThresholdEvaluator::new(plan),
            watch: GeneratorHealthTracker::new(plan),
            standstills: StallDetector::new(plan),
            hopeless: TotalFailureDetector::new(plan),
            violations: Vec::new(),
            gaps: false,
            observed: Observations::default(),
            impacts: ImpactTracker::new(plan),
        }
    }

    /// Intervals of the run are lost: what does not add up is their doing, and says nothing about how it was counted.
    pub fn mark_incomplete(&mut self) {
        self.gaps = true;
        self.violations.clear();
    }

    /// Phase number `phase` ended at `at`, before its planned end or without one. To be told before the
    /// intervals that follow that instant are added.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        self.totals.phase_ended(phase, at);
    }

    /// Number `event` of the plan's events was done at `at`. To be told before the intervals that end later are added.
    pub fn event_began(&mut self, event: u16, at: Nanos) {
        self.impacts.began(event, at);
    }

    /// Number `event` of the plan's events was taken back at `at`. To be told before the intervals that end later are added.
    pub fn event_ended(&mut self, event: u16, at: Nanos) {
        self.impacts.ended(event, at);
    }

    /// Number `event` of the plan's events was begun in vain: it is as if it had never been.
    pub fn event_failed(&mut self, event: u16) {
        self.impacts.failed(event);
    }

    /// What clients saw of the events that were done, the first 64 of them.
    pub fn impacts(&self) -> Vec<Impact> {
        self.impacts.all()
    }

    /// Enter how this host stood at one instant; samples come in order.
    pub fn observe_host(&mut self, sample: &HostSample) {
        self.observed.add_host(sample);
    }

    /// Enter how another host stood at one instant, one of a lab; samples of one host come in order. Conditions on hosts
    /// are about these.
    pub fn observe_other(&mut self, name: &str, sample: &HostSample) {
        self.observed.add_other(name, sample);
        self.judge.observe_host(name, sample, self.totals.spans());
    }

    /// Enter how it stood with the target's connections by its own count; samples come in order.
    pub fn observe_target(&mut self, sample: TargetSample) {
        self.observed.add_target(sample);
    }

    /// What was seen beside the load.
    pub const fn observed(&self) -> &Observations {
        &self.observed
    }

    /// Enter an interval in which all threads (and agents) are merged, and check conservation at its seal.
    pub fn add(&mut self, interval: &Interval) -> Result<(), Violation> {
        self.totals.add(interval);
        self.judge.add(interval, self.totals.spans());
        self.watch.add(interval, self.totals.spans());
        self.standstills.add(interval, self.totals.spans());
        self.hopeless.add(interval);
        self.impacts.add(interval, self.totals.spans());
        let checked = self.totals.check();
        self.note(checked)
    }

    /// Whether it matters in which second a time was measured: to conditions on times over windows, to stop conditions on
    /// times, which are true at one seal, to plateaus of held connections, and to what events did. Where it does not, seconds may be added
    /// without their times, and those of all of them together by [`Ledger::add_times`].
    pub fn needs_times_per_second(&self) -> bool {
        self.judge.needs_windowed_latency() || self.totals.held.weighs_times() || self.impacts.is_enabled()
    }

    /// Enter the times of seconds that were added without; of `sum` nothing else is taken.
    pub fn add_times(&mut self, sum: &Interval) {
        let times = sum.times();
        self.totals.add_times(&times);
        self.judge.add_times(&times, self.totals.spans());
    }

    /// The run is over: check also that nothing has left the data.
    pub fn close(&mut self) -> Result<(), Violation> {
        let checked = self.totals.check_final();
        self.note(checked)
    }

    /// Everything added up.
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The first stop condition that was true, and the seal at which it was.
    pub fn stop_fired(&self) -> Option<(&str, Nanos)> {
        self.judge.stop_fired()
    }

    /// The stop condition that fired, in the form of a broken threshold ([`ThresholdEvaluator::stop_result`]).
    pub fn stop_result(&self) -> Option<ThresholdResult> {
        self.judge.stop_result()
    }

    /// The class in which everything failed, if the run is hopeless at the latest seal.
    pub fn hopeless(&self) -> Option<ErrorClass> {
        self.hopeless.class()
    }

    /// The class in which everything failed, however short the run: what makes a counted one hopeless.
    pub fn only_class(&self) -> Option<ErrorClass> {
        self.hopeless.only_class()
    }

    /// All thresholds as they stand, the user's first; final when the run is over.
    pub fn results(&self) -> Vec<ThresholdResult> {
        self.judge.results(self.totals.spans())
    }

    /// How the generator fared so far.
    pub fn validity(&self) -> GeneratorHealth {
        self.watch.facts()
    }

    /// When no request ended so far, though enough of them waited. Of a book with gaps nothing is told: they may have ended there.
    pub fn standstills(&self) -> Stalls {
        if self.gaps { Stalls::default() } else { self.standstills.facts() }
    }

    /// Every identity found broken, in order, [`Ledger::VIOLATIONS_MAX`] at most.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    fn note(&mut self, checked: Result<(), Violation>) -> Result<(), Violation> {
        if let Err(violation) = &checked
            && !self.gaps
            && self.violations.len() < Self::VIOLATIONS_MAX
        {
            self.violations.push(violation.clone());
        }
        checked
    }
}
