//! [`Journeys`]: all scenarios of a plan, compiled.

use wavetank_plan::{Plan, Scenario, UserError};

use crate::program::Program;
use crate::rows::Table;
use crate::step::StepWork;

/// One scenario, compiled. Cloned once a load thread.
#[derive(Clone, Debug)]
pub struct Journey {
    /// What a user does first.
    pub before: Program,
    /// What a session does.
    pub session: Program,
    /// What a user does at last.
    pub after: Program,
    /// The scenario's steps.
    pub steps: Vec<StepWork>,
}

impl Journey {
    /// Compile `scenario`.
    ///
    /// # Errors
    /// Where a path, selector or expression in it is none.
    pub fn new(scenario: &Scenario, plan: &Plan) -> Result<Self, UserError> {
        let cookies = plan.http.cookies;
        Ok(Self {
            before: Program::new(&scenario.before)?,
            session: Program::new(&scenario.journey)?,
            after: Program::new(&scenario.after)?,
            steps: scenario
                .steps
                .iter()
                .map(|step| StepWork::new(step, plan, cookies))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether a session is one request, the same for all, of whose answer nothing is asked but its status, or does
    /// nothing at all: then nobody need remember where a session stands.
    pub fn is_plain(&self) -> bool {
        let plain = |step: u16| {
            let step = &self.steps[usize::from(step)];
            let keeps = step.keeps();
            step.as_fixed().is_some() && !keeps.fields && !keeps.body && !keeps.cookies
        };
        let session = self.session.is_empty() || self.session.single().is_some_and(plain);
        self.before.is_empty() && self.after.is_empty() && session
    }
}

/// All scenarios of a plan, and the rows they take values from.
#[derive(Clone, Debug)]
pub struct Journeys {
    /// By their index in the plan.
    pub scenarios: Vec<Journey>,
    /// By their index in the plan.
    pub tables: std::sync::Arc<[Table]>,
}

impl Journeys {
    /// Compile the scenarios of `plan`; `tables` are its data.
    ///
    /// # Errors
    /// Where a path, selector or expression in it is none.
    pub fn new(plan: &Plan, tables: Vec<Table>) -> Result<Self, UserError> {
        let scenarios = plan.scenarios.iter().map(|scenario| Journey::new(scenario, plan));
        Ok(Self { scenarios: scenarios.collect::<Result<_, _>>()?, tables: tables.into() })
    }
}
