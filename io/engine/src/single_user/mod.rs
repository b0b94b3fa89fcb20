//! [`SingleUser`]: one user that runs a journey, one request after the other, and reports all
//! events.
//!
//! It runs the steps before and after the load of a run, and those of `wavetank try`. Journeys,
//! requests and the evaluation of responses are the same as on load threads. Only the waiting
//! differs: here everything waits for the one response. Its requests are in no counter but `setup`.
//!
//! ```ignore
//! let mut user = SingleUser::new(&plan, &means, clock, &|| signals.received() > 0)?;
//! let before = user.before(&mut |_| ());          // nothing to do: all zero, no failure
//! setup.sent += before.sent; /* done, failed */
//! if let Some(failure) = &before.failure { /* no load: incomplete, reason `before` */ }
//! means.journeys.set_initial_variables(&before.variables);          // then make the load threads
//! /* … the load, drained … */
//! // `counts` by their index in plan.shared.counts
//! let after = user.after(&before.variables, &counts, &mut |_| ());
//! ```

mod connection;
mod message_capture;
mod messages;
mod opening;
mod prefacing;
mod request;
mod response_capture;
mod streams;
mod trace_event;
mod walk;

use std::sync::Arc;

use wavetank_driver::{Clock, Driver, Epoll, Uring};
use wavetank_journey::data::Table;
use wavetank_journey::value::Values;
use wavetank_journey::{Identity, Journey};
use wavetank_plan::{EngineChoice, Plan, Scenario};
use wavetank_units::UserError;

pub(crate) use connection::{Connector, RequestError, ResponseTimes, SingleConnection};
pub use connection::{Handshake, Opened};
pub use trace_event::{EarlyEnd, FullResponse, RequestCause, RequestFailure, SentRequest, TraceEvent};
use walk::{SingleUserRun, WalkContext};

use crate::load_config::LoadConfig;
use crate::threads::wall_zero_ms;

/// Numbers for users outside any scenario, which keep their random values separate.
const BEFORE: u16 = u16::MAX;
const AFTER: u16 = u16::MAX - 1;

/// One user outside the load; see the module documentation.
pub struct SingleUser<'a> {
    plan: &'a Plan,
    caller: Connector<'a>,
    tables: Arc<[Table]>,
    before: Option<Journey>,
    after: Option<Journey>,
    scenarios: Vec<Journey>,
    wall_zero_ms: u64,
    /// How many numbers `seq()` has returned.
    seq: u64,
    limits: SingleUserLimits,
}

/// The limits of a single user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleUserLimits {
    /// Whether pauses are really waited for.
    pub sleeps: bool,
    /// The maximum number of requests of one walk. Further ones are left out, which is reported.
    pub requests_max: u64,
}

impl Default for SingleUserLimits {
    /// The limits of a run's `before` and `after`: pauses are waited for, and only a signal stops
    /// the user.
    fn default() -> Self {
        Self { sleeps: true, requests_max: u64::MAX }
    }
}

/// The result of one walk.
#[derive(Clone, Debug, Default)]
pub struct WalkResult {
    /// Requests that were sent, including those that count only on the wire.
    pub sent: u64,
    /// Requests of steps that succeeded.
    pub done: u64,
    /// Requests of steps that failed, including those that could not be written.
    pub failed: u64,
    /// The first of those failures.
    pub failure: Option<StepFailure>,
    /// The results of checks in order: the first thousand, and after those only failed ones.
    pub checks: Vec<CheckResult>,
    /// Requests that failed for reasons other than a check, in order; a thousand at most.
    pub faults: Vec<StepFailure>,
    /// The counts, by index in [`SharedPlan::counts`](wavetank_plan::SharedPlan::counts); empty if
    /// nothing was counted.
    pub counts: Vec<u64>,
    /// Variables that have a value at the end, by name.
    pub variables: Vec<(String, Values)>,
    /// The reason for an early end, if any.
    pub early: Option<EarlyEnd>,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepFailure {
    /// The name of its step.
    pub step: String,
    /// What was wrong.
    pub trouble: RequestFailure,
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The name of its step.
    pub step: String,
    /// Its expression.
    pub check: String,
    /// `None`: it passed. Otherwise the actual value.
    pub instead: Option<String>,
}

impl<'a> SingleUser<'a> {
    /// Creates a user that follows `plan`, with the resources `config`, until `cancelled` returns
    /// true. `cancelled` is checked often, and whenever a signal interrupts a wait.
    ///
    /// # Errors
    /// If a path, selector or expression of a step is invalid.
    pub fn new(
        plan: &'a Plan,
        config: &LoadConfig,
        clock: Clock,
        cancelled: &'a dyn Fn() -> bool,
    ) -> Result<Self, UserError> {
        let compiled = |scenario: &Option<Box<Scenario>>| {
            scenario.as_ref().map(|scenario| Journey::new(scenario, plan)).transpose()
        };
        Ok(Self {
            plan,
            caller: Connector::new(plan, clock, config.outbound(), cancelled),
            tables: Arc::clone(&config.journeys.tables),
            before: compiled(&plan.around.before)?,
            after: compiled(&plan.around.after)?,
            scenarios: config.journeys.scenarios.clone(),
            wall_zero_ms: wall_zero_ms(clock),
            seq: 0,
            limits: SingleUserLimits::default(),
        })
    }

    /// Sets other limits.
    #[must_use]
    pub fn within(self, limits: SingleUserLimits) -> Self {
        Self { limits, ..self }
    }

    /// Runs the steps before the load. It ends with the first request that fails, because then
    /// there is no load.
    pub fn before(&mut self, watch: &mut dyn FnMut(TraceEvent<'_>)) -> WalkResult {
        let Some(journey) = self.before.take() else { return WalkResult::default() };
        let scenario = self.plan.around.before.as_deref().expect("it was compiled");
        let walked = self.walk((scenario, &journey), BEFORE, true, &[], watch);
        self.before = Some(journey);
        walked
    }

    /// Runs the steps after the load. `given` are the variables that `before` set, `counts` the
    /// counts of the run.
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

    /// Runs one whole scenario, given by its index in the plan: the first session of its first
    /// user, including its `before` and `after`. `given` are the variables that the run's `before`
    /// set.
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
        let context = WalkContext {
            caller: &mut self.caller,
            scenario,
            journey,
            tables: &self.tables,
            counts,
            wall_zero_ms: self.wall_zero_ms,
            limits: self.limits,
            strict,
        };
        SingleUserRun::<D>::new(context, Identity::for_user(number, 0, 0, 1), &mut self.seq, watch).run()
    }
}
