//! [`Ledger`]: the evaluation of a run: totals, thresholds, validity.

use wavetank_plan::{Plan, THIS_HOST};
use wavetank_units::Nanos;

use crate::impacts::ImpactTracker;
use crate::observed::is_whole;
use crate::stall_detector::StallDetector;
use crate::{
    ErrorClass, FailureTimes, GeneratorHealth, GeneratorHealthTracker, HostSample, Impact, Interval,
    Observations, Stalls, TargetSample, ThresholdEvaluator, ThresholdResult, TotalFailureDetector, Totals,
    Violation,
};

/// Evaluates one run: every merged interval is added once, in order, and all results follow from
/// it. A live run and an archive read back use the same ledger.
#[derive(Clone, Debug)]
pub struct Ledger {
    totals: Totals,
    judge: ThresholdEvaluator,
    watch: GeneratorHealthTracker,
    standstills: StallDetector,
    hopeless: TotalFailureDetector,
    failure_times: FailureTimes,
    violations: Vec<Violation>,
    /// Intervals are known to be missing.
    gaps: bool,
    observed: Observations,
    impacts: ImpactTracker,
}

impl Ledger {
    /// Most violations kept. The first ones show the defect, the others repeat it each second.
    pub const VIOLATIONS_MAX: usize = 16;

    /// Creates an empty ledger for a run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            totals: Totals::new(plan),
            judge: ThresholdEvaluator::new(plan),
            watch: GeneratorHealthTracker::new(plan),
            standstills: StallDetector::new(plan),
            hopeless: TotalFailureDetector::new(plan),
            failure_times: FailureTimes::default(),
            violations: Vec::new(),
            gaps: false,
            observed: Observations::default(),
            impacts: ImpactTracker::new(plan),
        }
    }

    /// Marks that intervals of the run are lost. Counts that do not add up are then caused by the
    /// loss and do not indicate a counting error.
    pub fn mark_incomplete(&mut self) {
        self.gaps = true;
        self.violations.clear();
    }

    /// Phase number `phase` ended at `at`, before its planned end or without one. Must be called
    /// before the intervals that follow that instant are added.
    pub fn phase_ended(&mut self, phase: u16, at: Nanos) {
        self.totals.phase_ended(phase, at);
    }

    /// The load of phase number `phase` was changed while it ran. A ledger of the changed plan
    /// needs no call.
    pub fn load_changed(&mut self, phase: u16) {
        self.totals.load_changed(phase);
    }

    /// Number `event` of the plan's events was carried out at `at`. Must be called before the
    /// intervals that end later are added.
    pub fn event_began(&mut self, event: u16, at: Nanos) {
        self.impacts.began(event, at);
    }

    /// Number `event` of the plan's events was reverted at `at`. Must be called before the
    /// intervals that end later are added.
    pub fn event_ended(&mut self, event: u16, at: Nanos) {
        self.impacts.ended(event, at);
    }

    /// Number `event` of the plan's events failed and had no effect.
    pub fn event_failed(&mut self, event: u16) {
        self.impacts.failed(event);
    }

    /// The effects of the first 64 events on clients.
    pub fn impacts(&self) -> Vec<Impact> {
        self.impacts.all()
    }

    /// Adds a sample of this host; samples arrive in order. Conditions on hosts apply to it, unless
    /// it is the machine under a lab.
    pub fn observe_host(&mut self, sample: &HostSample) {
        self.observed.add_host(sample);
        if is_whole(sample) {
            self.judge.observe_host(THIS_HOST, sample, self.totals.spans());
        }
    }

    /// Adds a sample of another host, one of a lab. Samples of one host arrive in order. Conditions
    /// on hosts apply to these.
    pub fn observe_other(&mut self, name: &str, sample: &HostSample) {
        self.observed.add_other(name, sample);
        self.judge.observe_host(name, sample, self.totals.spans());
    }

    /// Adds a sample of the target's own connection counts; samples arrive in order.
    pub fn observe_target(&mut self, sample: TargetSample) {
        self.observed.add_target(sample);
    }

    /// What was sampled in parallel with the load.
    pub const fn observed(&self) -> &Observations {
        &self.observed
    }

    /// Adds an interval in which all threads (and agents) are merged, and checks conservation at
    /// its seal.
    pub fn add(&mut self, interval: &Interval) -> Result<(), Violation> {
        self.totals.add(interval);
        self.judge.add(interval, self.totals.spans());
        self.watch.add(interval, self.totals.spans());
        self.standstills.add(interval, self.totals.spans());
        self.hopeless.add(interval);
        self.failure_times.add(interval, self.totals.spans());
        self.impacts.add(interval, self.totals.spans());
        let checked = self.totals.check();
        self.note(checked)
    }

    /// Adds an interval of a fleet's agent that arrived after the fleet's interval was added. Only
    /// totals have it: conditions and the generator's health were evaluated without it. The ledger
    /// is then good for progress, and the result of the run must be computed from its archive.
    /// Gauges are those of the latest seal.
    pub fn amend(&mut self, interval: &Interval) {
        self.mark_incomplete();
        self.totals.amend(interval);
    }

    /// Whether it matters in which second a time was measured. It does for conditions on times over
    /// windows, for stop conditions on times, for plateaus of held connections, and for the impact
    /// of events. Otherwise seconds may be added without their times, and the times of all of them
    /// together with [`Ledger::add_times`].
    pub fn needs_times_per_second(&self) -> bool {
        self.judge.needs_windowed_latency() || self.totals.held.weighs_times() || self.impacts.is_enabled()
    }

    /// Adds the times of seconds that were added without; nothing else of `sum` is used.
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

    /// Returns the stop condition that fired, in the form of a violated threshold
    /// ([`ThresholdEvaluator::stop_result`]).
    pub fn stop_result(&self) -> Option<ThresholdResult> {
        self.judge.stop_result()
    }

    /// When requests failed, by class.
    pub const fn failure_times(&self) -> &FailureTimes {
        &self.failure_times
    }

    /// The class in which everything failed, if the run is hopeless at the latest seal.
    pub fn hopeless(&self) -> Option<ErrorClass> {
        self.hopeless.class()
    }

    /// Returns the class of all errors if everything failed with one class, however short the run.
    /// It makes a run with a fixed number of requests hopeless.
    pub fn only_class(&self) -> Option<ErrorClass> {
        self.hopeless.only_class()
    }

    /// Returns the current results of all thresholds, the user's first; final when the run is over.
    pub fn results(&self) -> Vec<ThresholdResult> {
        self.judge.results(self.totals.spans())
    }

    /// Facts about the generator's accuracy so far.
    pub fn validity(&self) -> GeneratorHealth {
        self.watch.facts()
    }

    /// Returns the stretches in which no request ended although enough were waiting. Empty for a
    /// ledger with gaps, because requests may have ended in them.
    pub fn standstills(&self) -> Stalls {
        if self.gaps { Stalls::default() } else { self.standstills.facts() }
    }

    /// The violated identities, in order, at most [`Ledger::VIOLATIONS_MAX`].
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    fn note(&mut self, checked: Result<(), Violation>) -> Result<(), Violation> {
        if self.gaps {
            return Ok(());
        }
        if let Err(violation) = &checked
            && self.violations.len() < Self::VIOLATIONS_MAX
        {
            self.violations.push(violation.clone());
        }
        checked
    }
}
