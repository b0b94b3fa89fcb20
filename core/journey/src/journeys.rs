//! [`Journeys`]: all scenarios of a plan, compiled.

use std::sync::Arc;

use wavetank_plan::{Plan, Scenario};
use wavetank_units::UserError;

use crate::compiled::{CompiledStep, Program};
use crate::data::Table;
use crate::per_target_steps::PerTargetStep;
use crate::state::{Identity, Session};
use crate::value::Values;

/// One compiled scenario. Each load thread has its own clone.
#[derive(Clone, Debug)]
pub struct Journey {
    /// The first actions of a user.
    pub before: Program,
    /// The actions of a session.
    pub session: Program,
    /// The last actions of a user.
    pub after: Program,
    /// The scenario's steps. A step with several targets is compiled for the first of them.
    pub steps: Vec<CompiledStep>,
    /// By step, the versions for each of several targets; empty if every step has one target.
    choices: Arc<[Option<PerTargetStep>]>,
    /// Names of the scenario's variables, by slot.
    variables: Arc<[String]>,
    given: InitialVariables,
}

/// The values that the run's `before` set, as this scenario's sessions start with them.
#[derive(Clone, Debug, Default)]
struct InitialVariables {
    /// By slot, the variables that no session changes. A million sessions share one copy.
    shared: Option<Arc<[Values]>>,
    /// Variables that sessions also set: each user has its own.
    own: Arc<[(u16, Values)]>,
}

impl Journey {
    /// Compiles `scenario`.
    ///
    /// # Errors
    /// If a path, selector or expression in it is invalid.
    pub fn new(scenario: &Scenario, plan: &Plan) -> Result<Self, UserError> {
        let cookies = plan.http.cookies;
        let choice = |step| PerTargetStep::new(step, plan, cookies, scenario.connection);
        let choices: Vec<_> = scenario.steps.iter().map(choice).collect::<Result<_, _>>()?;
        Ok(Self {
            choices: if choices.iter().any(Option::is_some) { choices.into() } else { Arc::default() },
            before: Program::new(&scenario.before)?,
            session: Program::new(&scenario.journey)?,
            after: Program::new(&scenario.after)?,
            steps: scenario
                .steps
                .iter()
                .map(|step| CompiledStep::new(step, plan, cookies))
                .collect::<Result<_, _>>()?,
            variables: scenario.variables.iter().cloned().collect(),
            given: InitialVariables::default(),
        })
    }

    /// Gives the scenario's sessions these initial variables, by name. Names that the scenario does
    /// not know are ignored.
    pub fn set_initial_variables(&mut self, values: &[(String, Values)]) {
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        for (slot, name) in (0_u16..).zip(self.variables.iter()) {
            let Some((_, value)) = values.iter().rev().find(|(given, _)| given == name) else { continue };
            if self.sets(slot) {
                own.push((slot, value.clone()));
            } else {
                shared.resize_with(usize::from(slot), Values::default);
                shared.push(value.clone());
            }
        }
        let shared = (!shared.is_empty()).then(|| shared.into());
        self.given = InitialVariables { shared, own: own.into() };
    }

    /// Gives a user's first session its [initial variables](Self::set_initial_variables).
    #[inline]
    pub fn init_session(&self, session: &mut Session) {
        if let Some(shared) = &self.given.shared {
            session.share(shared);
        }
        for (slot, value) in &*self.given.own {
            session.variable_mut(*slot).clone_from(value);
        }
    }

    /// Returns step `number` for a session.
    #[inline]
    pub fn step(&self, number: u16, who: &Identity, seed: u64) -> &CompiledStep {
        match self.choices.get(usize::from(number)) {
            Some(Some(choice)) => choice.pick(who, seed),
            _ => &self.steps[usize::from(number)],
        }
    }

    /// Whether step `number` is the same for all sessions.
    pub fn is_session_independent(&self, number: u16) -> bool {
        !matches!(self.choices.get(usize::from(number)), Some(Some(_)))
    }

    /// The target of a session's first request, judged by the order of steps in the file.
    pub fn first_target(&self, who: &Identity, seed: u64) -> u16 {
        if self.steps.is_empty() { 0 } else { self.step(0, who, seed).target }
    }

    /// Whether any action or extraction sets variable `slot`.
    fn sets(&self, slot: u16) -> bool {
        [&self.before, &self.session, &self.after].into_iter().any(|program| program.sets(slot))
            || self.steps.iter().any(|step| step.extracts(slot))
    }

    /// Whether a session sends one request that is the same for all and uses only the status of the
    /// response, or does nothing at all. In both cases the position of a session need not be
    /// stored.
    pub fn is_single_fixed_request(&self) -> bool {
        let plain = |step: u16| {
            let alike = self.is_session_independent(step);
            let step = &self.steps[usize::from(step)];
            alike && step.as_fixed().is_some() && !step.retention().any() && !step.is_message()
        };
        let session = self.session.is_empty() || self.session.single().is_some_and(plain);
        self.before.is_empty() && self.after.is_empty() && session
    }
}

/// All scenarios of a plan, and the tables from which they take values.
#[derive(Clone, Debug)]
pub struct Journeys {
    /// By their index in the plan.
    pub scenarios: Vec<Journey>,
    /// By their index in the plan.
    pub tables: Arc<[Table]>,
}

impl Journeys {
    /// Compiles the scenarios of `plan`. `tables` are its data.
    ///
    /// # Errors
    /// If a path, selector or expression in it is invalid.
    pub fn new(plan: &Plan, tables: Vec<Table>) -> Result<Self, UserError> {
        let scenarios = plan.scenarios.iter().map(|scenario| Journey::new(scenario, plan));
        Ok(Self { scenarios: scenarios.collect::<Result<_, _>>()?, tables: tables.into() })
    }

    /// Gives all sessions these initial variables, by name: the values that the run's `before` set.
    pub fn set_initial_variables(&mut self, values: &[(String, Values)]) {
        self.scenarios.iter_mut().for_each(|journey| journey.set_initial_variables(values));
    }
}
