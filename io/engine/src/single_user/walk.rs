//! [`SingleUserRun`]: one pass of a single user through a journey.

use std::collections::BTreeMap;

use wavetank_driver::Driver;
use wavetank_journey::data::Table;
use wavetank_journey::extract::ParseCache;
use wavetank_journey::value::Values;
use wavetank_journey::{Identity, Journey, Program, RenderContext, Session, SessionAction, SessionEvent};
use wavetank_measure::ErrorClass;
use wavetank_pace::Partition;
use wavetank_plan::{OnFailure, Plan, Scenario};
use wavetank_units::Nanos;

use super::connection::{Connector, SingleConnection};
use super::trace_event::{EarlyEnd, RequestFailure, TraceEvent};
use super::{CheckResult, SingleUserLimits, StepFailure, WalkResult};

/// The maximum number of operations between two requests. A journey that loops without sending
/// anything never ends.
const OPS_MAX: u64 = 10_000_000;
/// The maximum number of checks that are kept, of failed checks after those, and of other failures.
const CHECKS_MAX: usize = 1_000;
const BROKEN_MAX: usize = 2_000;
const FAULTS_MAX: usize = 1_000;

/// The context of a walk.
pub(super) struct WalkContext<'w, 'a> {
    pub(super) caller: &'w mut Connector<'a>,
    pub(super) scenario: &'w Scenario,
    pub(super) journey: &'w Journey,
    pub(super) tables: &'w [Table],
    /// The counts of the run.
    pub(super) counts: &'w [u64],
    pub(super) wall_zero_ms: u64,
    pub(super) limits: SingleUserLimits,
    /// Whether the first failure ends the walk.
    pub(super) strict: bool,
}

/// One pass through a journey; see the module documentation.
pub(super) struct SingleUserRun<'w, 'a, D: Driver> {
    pub(super) context: WalkContext<'w, 'a>,
    pub(super) memory: SingleUserBuffers<'w>,
    pub(super) session: Session,
    /// Open connections, by target.
    pub(super) connections: BTreeMap<u16, SingleConnection<D>>,
    pub(super) walked: WalkResult,
    pub(super) watch: &'w mut dyn FnMut(TraceEvent<'_>),
    requests: u64,
    /// Variables with the values that were reported last.
    seen: Vec<Values>,
}

/// The parts of a [`RenderContext`].
pub(super) struct SingleUserBuffers<'w> {
    seq: &'w mut u64,
    scratch: Vec<u8>,
    reading: ParseCache,
    finds: Values,
}

impl SingleUserBuffers<'_> {
    pub(super) fn scene<'s>(
        &'s mut self,
        plan: &'s Plan,
        context: &WalkContext<'s, '_>,
        now: Nanos,
    ) -> RenderContext<'s> {
        RenderContext {
            seed: plan.seed,
            tables: context.tables,
            data: &plan.shared.data,
            wall_ms: context.wall_zero_ms.saturating_add_signed(now.0 / 1_000_000),
            share: Partition::WHOLE,
            seq: self.seq,
            counts: context.counts,
            scratch: &mut self.scratch,
            reading: &mut self.reading,
            finds: &mut self.finds,
        }
    }
}

impl<'w, 'a, D: Driver> SingleUserRun<'w, 'a, D> {
    pub(super) fn new(
        context: WalkContext<'w, 'a>,
        identity: Identity,
        seq: &'w mut u64,
        watch: &'w mut dyn FnMut(TraceEvent<'_>),
    ) -> Self {
        let mut session = Session::default();
        session.begin(identity);
        context.journey.init_session(&mut session);
        let seen = vec![Values::default(); context.scenario.variables.len()];
        let memory = SingleUserBuffers {
            seq,
            scratch: Vec::new(),
            reading: ParseCache::default(),
            finds: Values::default(),
        };
        let (connections, walked) = (BTreeMap::new(), WalkResult::default());
        Self { context, memory, session, connections, walked, watch, requests: 0, seen }
    }

    pub(super) fn plan(&self) -> &'a Plan {
        self.context.caller.plan
    }

    pub(super) fn now(&self) -> Nanos {
        self.context.caller.clock.now()
    }

    /// Runs the first steps, the session and the last steps, and returns the result.
    pub(super) fn run(mut self) -> WalkResult {
        let journey = self.context.journey;
        let identity = self.session.identity;
        let mut early = None;
        for program in [&journey.before, &journey.session] {
            self.session.begin(identity);
            early = self.through(program);
            if early.is_some() {
                break;
            }
        }
        // A user that ends its session early still runs its last steps.
        if early.is_none_or(|early| matches!(early, EarlyEnd::Session | EarlyEnd::Failure))
            && !self.context.strict
        {
            self.session.begin(identity);
            early = early.or(self.through(&journey.after));
        }
        let close = self.plan().http.close;
        for connection in std::mem::take(&mut self.connections).into_values() {
            connection.close(close);
        }
        for (slot, name) in (0_u16..).zip(&self.context.scenario.variables) {
            if let Some(value) = self.session.variable(slot).filter(|value| !value.is_empty()) {
                self.walked.variables.push((name.clone(), value.clone()));
            }
        }
        WalkResult { early, ..self.walked }
    }

    /// Runs all of `program`. Returns what ended it early, if anything.
    fn through(&mut self, program: &Program) -> Option<EarlyEnd> {
        let mut ops = 0;
        loop {
            if self.context.caller.is_cancelled() {
                return Some(self.ends(EarlyEnd::Cancelled));
            }
            let limit = self.context.limits.requests_max;
            match self.step(program) {
                SessionAction::Request(_) if self.requests >= limit => {
                    (self.watch)(TraceEvent::Enough(limit));
                    return None;
                }
                SessionAction::Request(step) => {
                    (ops, self.requests) = (0, self.requests + 1);
                    if let Some(early) = self.request(step) {
                        return Some(self.ends(early));
                    }
                }
                SessionAction::Pause(length) => {
                    if let Err(trouble) = self.pause(length) {
                        self.failed("think", trouble, false);
                        return Some(self.ends(EarlyEnd::Failure));
                    }
                }
                SessionAction::Wait(place) => {
                    let name = self.plan().shared.rendezvous.get(usize::from(place.place));
                    (self.watch)(TraceEvent::Met(name.map_or("?", String::as_str)));
                }
                SessionAction::GiveWay if ops < OPS_MAX => ops += 1,
                SessionAction::GiveWay => {
                    (self.watch)(TraceEvent::Endless);
                    return None;
                }
                SessionAction::End { run: true } => return Some(self.ends(EarlyEnd::Run)),
                SessionAction::End { run: false } if !self.session.is_at_end(program) => {
                    return Some(self.ends(EarlyEnd::Session));
                }
                SessionAction::End { run: false } => return None,
            }
        }
    }

    fn ends(&mut self, early: EarlyEnd) -> EarlyEnd {
        (self.watch)(TraceEvent::EndsEarly(early));
        early
    }

    /// Runs one operation and reports its events and variables.
    fn step(&mut self, program: &Program) -> SessionAction {
        let (now, plan) = (self.now(), self.plan());
        let mut reported = Vec::new();
        let asks = self.session.pending_condition(program);
        let mut scene = self.memory.scene(plan, &self.context, now);
        let next = self.session.advance_by(1, program, &mut scene, now, &mut reported);
        if let Some((condition, otherwise)) = asks {
            (self.watch)(TraceEvent::Asked(condition, !self.session.is_at(otherwise)));
        }
        self.record_events(reported);
        self.report_variables();
        next
    }

    /// Reports the events of the session.
    pub(super) fn record_events(&mut self, reported: Vec<SessionEvent>) {
        for one in reported {
            match one {
                SessionEvent::Log(text) => (self.watch)(TraceEvent::Logged(&text)),
                SessionEvent::Group(group, from, to) => {
                    let name = self.context.scenario.groups.get(usize::from(group));
                    (self.watch)(TraceEvent::Grouped(name.map_or("?", String::as_str), to - from));
                }
            }
        }
    }

    /// Reports variables that have changed.
    fn report_variables(&mut self) {
        for (slot, (name, seen)) in (0_u16..).zip(self.context.scenario.variables.iter().zip(&mut self.seen))
        {
            if let Some(value) = self.session.variable(slot).filter(|value| *value != seen) {
                seen.clone_from(value);
                (self.watch)(TraceEvent::Set(name, value));
            }
        }
    }

    /// Marks variables that a response changed as reported, because they were reported with it.
    pub(super) fn skip_reported_variables(&mut self) {
        for (slot, seen) in (0_u16..).zip(&mut self.seen) {
            if let Some(value) = self.session.variable(slot) {
                seen.clone_from(value);
            }
        }
    }

    fn pause(&mut self, length: Nanos) -> Result<(), RequestFailure> {
        let sleeps = self.context.limits.sleeps;
        if sleeps {
            let until = self.now().after(length);
            self.context.caller.pause::<D>(until).map_err(|errno| RequestFailure {
                class: ErrorClass::Other,
                detail: format!("cannot wait: {errno}"),
            })?;
        }
        (self.watch)(TraceEvent::Paused(length, sleeps));
        Ok(())
    }

    /// Records a failed request. `by_check`: it failed only because of a check.
    pub(super) fn failed(&mut self, step: &str, trouble: RequestFailure, by_check: bool) {
        self.walked.failed += 1;
        self.session.failed = true;
        let failure = StepFailure { step: step.to_owned(), trouble };
        if !by_check && self.walked.faults.len() < FAULTS_MAX {
            self.walked.faults.push(failure.clone());
        }
        self.walked.failure.get_or_insert(failure);
    }

    /// Records a check.
    pub(super) fn checked(walked: &mut WalkResult, step: &str, check: &str, instead: Option<&str>) {
        let most = if instead.is_some() { BROKEN_MAX } else { CHECKS_MAX };
        if walked.checks.len() < most {
            let [step, check] = [step, check].map(str::to_owned);
            walked.checks.push(CheckResult { step, check, instead: instead.map(str::to_owned) });
        }
    }

    /// Returns what the failure of `step` ends. `data`: the request could not even be written.
    pub(super) fn on_failure(&self, step: u16, data: bool) -> Option<EarlyEnd> {
        let own = self.context.scenario.steps[usize::from(step)].on_failure;
        match own.unwrap_or(self.context.scenario.on_failure) {
            _ if self.context.caller.is_cancelled() => Some(EarlyEnd::Cancelled),
            _ if self.context.strict => Some(EarlyEnd::Failure),
            OnFailure::Continue if !data => None,
            OnFailure::Continue | OnFailure::EndSession => Some(EarlyEnd::Failure),
            OnFailure::EndRun => Some(EarlyEnd::Run),
        }
    }
}
