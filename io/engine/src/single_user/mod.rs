//! [`SingleUser`]: one user who walks through a journey, one request after the other, and tells all that happens.
//!
//! What a run does once before and once after its load, and what `wavetank try` shows. The journeys, the writing of
//! requests and the looking at answers are those of the load threads; only the waiting is different: here everything
//! waits for the one answer. Nothing of it is in any counter but `setup`.
//!
//! ```ignore
//! let mut user = SingleUser::new(&plan, &means, clock, &|| signals.received() > 0)?;
//! let before = user.before(&mut |_| ());          // nothing to do: all zero, no failure
//! setup.sent += before.sent; /* done, failed */
//! if let Some(failure) = &before.failure { /* no load: incomplete, reason `before` */ }
//! means.journeys.set_initial_variables(&before.variables);          // then make the load threads
//! /* … the load, drained … */
//! let after = user.after(&before.variables, &counts, &mut |_| ());   // counts by their index in plan.shared.counts
//! ```

mod connection;
mod prefacing;
mod request;
mod trace_event;
mod walk;

use std::sync::Arc;

use wavetank_driver::{Clock, Driver, Epoll, Uring};
use wavetank_journey::data::Table;
use wavetank_journey::value::Values;
use wavetank_journey::{Identity, Journey};
use wavetank_plan::{EngineChoice, Plan, Scenario, UserError};

pub(crate) use connection::{Connector, RequestError, SingleConnection};
pub use connection::{Handshake, Opened};
pub use trace_event::{EarlyEnd, FullResponse, RequestCause, RequestFailure, SentRequest, TraceEvent};
use walk::{SingleUserRun, WalkContext};

use crate::load_config::LoadConfig;
use crate::threads::wall_zero_ms;

/// Numbers of those who are no users of a scenario: their random values are their own.
const BEFORE: u16 = u16::MAX;
const AFTER: u16 = u16::MAX - 1;

/// See the module's description.
pub struct SingleUser<'a> {
    plan: &'a Plan,
    caller: Connector<'a>,
    tables: Arc<[Table]>,
    before: Option<Journey>,
    after: Option<Journey>,
    scenarios: Vec<Journey>,
    wall_zero_ms: u64,
    /// How many numbers of `seq()` were handed out.
    seq: u64,
    limits: SingleUserLimits,
}

/// How far a lone user goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUserLimits {
    /// Pauses are really waited for.
    pub sleeps: bool,
    /// Requests of one walk at most; what lies behind is left out, and told.
    pub requests_max: u64,
}

impl Default for SingleUserLimits {
    /// As a run's `before` and `after` have it: pauses are waited for, and nobody stops them but a signal.
    fn default() -> Self {
        Self { sleeps: true, requests_max: u64::MAX }
    }
}

/// What came of one walk.
#[derive(Clone, Debug, Default)]
pub struct WalkResult {
    /// Requests that left, everything that only the wire counts included.
    pub sent: u64,
    /// Requests of steps that were answered as wanted.
    pub done: u64,
    /// Requests of steps that were not, those that could not be written included.
    pub failed: u64,
    /// The first of those.
    pub failure: Option<StepFailure>,
    /// Checks that were asked, in their order; the first thousand, and of later ones those that did not hold.
    pub checks: Vec<CheckResult>,
    /// Requests that failed otherwise than by a check, in their order; a thousand at most.
    pub faults: Vec<StepFailure>,
    /// What was counted, by index in [`SharedPlan::counts`](wavetank_plan::SharedPlan::counts); empty for nothing.
    pub counts: Vec<u64>,
    /// Variables that hold something at the end, by name.
    pub variables: Vec<(String, Values)>,
    /// What ended it before its end, if anything.
    pub early: Option<EarlyEnd>,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFailure {
    /// Its step's name.
    pub step: String,
    /// What was wrong.
    pub trouble: RequestFailure,
}

/// A check, and whether it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Its step's name.
    pub step: String,
    /// Its words.
    pub check: String,
    /// `None`: it held; else what stood there instead.
    pub instead: Option<String>,
}

impl<'a> SingleUser<'a> {
    /// Somebody who walks as `plan` says, by `means`, until `cancelled` says no, which is asked often and whenever a
    /// signal interrupts a wait.
    ///
    /// # Errors
    /// Where a path, selector or expression of a step is none.
    pub fn new(
        plan: &'a Plan,
        means: &LoadConfig,
        clock: Clock,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, UserError> {
        let compiled = |scenario: &Option<Box<Scenario>>| {
            scenario.as_ref().map(|scenario| Journey::new(scenario, plan)).transpose()
        };
        Ok(Self {
            plan,
            caller: Connector::new(plan, clock, means.way(), cancelled),
            tables: Arc::clone(&means.journeys.tables),
            before: compiled(&plan.around.before)?,
            after: compiled(&plan.around.after)?,
            scenarios: means.journeys.scenarios.clone(),
            wall_zero_ms: wall_zero_ms(clock),
            seq: 0,
            limits: SingleUserLimits::default(),
        })
    }

    /// The same within other limits.
    #[must_use]
    pub fn within(self, limits: SingleUserLimits) -> Self {
        Self { limits, ..self }
    }

    /// What is to be done once before the load. It ends with the first request that fails, since then there is none.
    pub fn before(&mut self, watch: &mut dyn FnMut(TraceEvent<'_>)) -> WalkResult {
        let Some(journey) = self.before.take() else { return WalkResult::default() };
        let scenario = self.plan.around.before.as_deref().expect("it was compiled");
        let walked = self.walk((scenario, &journey), BEFORE, true, &[], watch);
        self.before = Some(journey);
        walked
    }

    /// What is to be done once after the load; `given` are the variables that `before` set, `counts` what the run
    /// counted.
    pub fn after(
        &mut self,
        given: &[(String, Values)],
        counts: &[u64],
        watch: &mut dyn FnMut(TraceEvent<'_>),
    ) -> WalkResult {
        let Some(mut journey) = self.after.take() else { return WalkResult::default() };
        let scenario = self.plan.around.after.as_deref().expect("it was compiled");
        journey.set_initial_variables(given);
        let walked = self.walk((scenario, &journey), AFTER, false, counts, watch);
        self.after = Some(journey);
        walked
    }

    /// All of one scenario, by its index in the plan: what its first user does in his first session, his `before` and
    /// `after` included. `given` are the variables that the run's `before` set.
    pub fn scenario(
        &mut self,
        scenario: u16,
        given: &[(String, Values)],
        watch: &mut dyn FnMut(TraceEvent<'_>),
    ) -> WalkResult {
        let place = usize::from(scenario);
        let mut journey = self.scenarios[place].clone();
        journey.set_initial_variables(given);
        self.walk((&self.plan.scenarios[place], &journey), scenario, false, &[], watch)
    }

    fn walk(
        &mut self,
        (scenario, journey): (&Scenario, &Journey),
        number: u16,
        strict: bool,
        counts: &[u64],
        watch: &mut dyn FnMut(TraceEvent<'_>),
    ) -> WalkResult {
        match self.plan.engine {
            EngineChoice::Uring => {
                self.walk_over::<Uring>((scenario, journey), number, strict, counts, watch)
            }
            EngineChoice::Epoll | EngineChoice::Auto => {
                self.walk_over::<Epoll>((scenario, journey), number, strict, counts, watch)
            }
        }
    }

    fn walk_over<D: Driver>(
        &mut self,
        (scenario, journey): (&Scenario, &Journey),
        number: u16,
        strict: bool,
        counts: &[u64],
        watch: &mut dyn FnMut(TraceEvent<'_>),
    ) -> WalkResult {
        let way = WalkContext {
            caller: &mut self.caller,
            scenario,
            journey,
            tables: &self.tables,
            counts,
            wall_zero_ms: self.wall_zero_ms,
            limits: self.limits,
            strict,
        };
        SingleUserRun::<D>::new(way, Identity::for_user(number, 0, 0, 1), &mut self.seq, watch).run()
    }
}
