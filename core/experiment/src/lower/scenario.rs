//! Scenarios of the plan, and the names that are valid in one of them.

use wavetank_plan::{self as plan, Action, ConnectionOwner};

use super::LowerError;
use super::action::{StepLowering, think};
use super::request::on_failure;
use super::scope::ScenarioScope;
use super::shared::{GlobalScope, add};
use super::target::Targets;
use super::template::set_value;
use crate::model::{Connection, Experiment, Phase, PhaseLoad, Scenario, Step};

/// All scenarios of the plan.
pub(super) struct Scenarios {
    pub(super) load: Vec<plan::Scenario>,
    pub(super) before: Option<plan::Scenario>,
    pub(super) after: Option<plan::Scenario>,
}

impl Scenarios {
    pub(super) fn new<'e>(
        shared: &'e GlobalScope<'e>,
        targets: &mut Targets<'e>,
    ) -> Result<Self, LowerError> {
        let experiment = shared.experiment;
        let of_run = sets(shared, &[&experiment.before]);
        let around = |steps: &'e [Step], name: &str, given: &[String], targets: &mut Targets<'e>| {
            let mut variables = of_run.clone();
            for own in &sets(shared, &[steps]) {
                add(&mut variables, own);
            }
            let names = ScenarioScope { shared, variables, target: None };
            (!steps.is_empty()).then(|| one(names, name, given, None, [&[], steps, &[]], targets)).transpose()
        };
        let before = around(&experiment.before, "before", &[], targets)?;
        let mut scenarios = Vec::with_capacity(experiment.scenarios.len().max(1));
        for scenario in &experiment.scenarios {
            let lists = [scenario.before.as_slice(), &scenario.steps, &scenario.after];
            let mut variables = sets(shared, &lists);
            for own in &of_run {
                add(&mut variables, own);
            }
            let names = ScenarioScope { shared, variables, target: scenario.target.as_ref() };
            let name = scenario.name.as_ref().map_or("", |name| name.value.as_str());
            scenarios.push(one(names, name, &of_run, Some(scenario), lists, targets)?);
        }
        if scenarios.is_empty() {
            // Connections held silently.
            scenarios.push(plan::Scenario::from_steps("", ConnectionOwner::User, Vec::new()));
        }
        let after = around(&experiment.after, "after", &of_run, targets)?;
        Ok(Self { load: scenarios, before, after })
    }
}

/// Returns the names that these steps set, including their blocks.
fn sets(shared: &GlobalScope<'_>, lists: &[&[Step]]) -> Vec<String> {
    let mut all = Vec::new();
    for steps in lists {
        for step in shared.experiment.flattened(steps) {
            step.sets().into_iter().for_each(|name| add(&mut all, name));
        }
    }
    all
}

/// Lowers one scenario. `given` are the variables that the run's `before` has set by then.
fn one<'e>(
    names: ScenarioScope<'e>,
    name: &str,
    given: &[String],
    scenario: Option<&Scenario>,
    [before, steps, after]: [&'e [Step]; 3],
    targets: &mut Targets<'e>,
) -> Result<plan::Scenario, LowerError> {
    let mut first = Vec::new();
    for (slot, variable) in (0_u16..).zip(&names.variables) {
        // A variable with a value in the file keeps it until a session or the run's `before` sets
        // another.
        if let Some(value) = names.shared.var(variable).filter(|_| !given.contains(variable)) {
            first.push(Action::Set(slot, set_value(&names, variable, value)?));
        }
    }
    let think = scenario.and_then(|scenario| scenario.think).map(think);
    let mut walk = StepLowering::new(names, targets);
    first.extend(walk.list(before, None)?);
    let journey = walk.journey(steps, think)?;
    let after = walk.list(after, None)?;
    let StepLowering { names, steps, groups, .. } = walk;
    Ok(plan::Scenario {
        name: name.to_owned(),
        connection: owner(names.shared.experiment, scenario, &first, &journey, &after),
        steps,
        groups,
        variables: names.variables,
        before: first,
        journey,
        after,
        pace: scenario.and_then(|scenario| scenario.pace),
        on_failure: scenario
            .and_then(|scenario| scenario.on_failure)
            .map_or(plan::OnFailure::Continue, on_failure),
    })
}

/// Returns the owner of connections. A session of one request has no use for a connection of its
/// own, so arriving sessions of this kind share a pool.
fn owner(
    experiment: &Experiment,
    scenario: Option<&Scenario>,
    before: &[Action],
    journey: &[Action],
    after: &[Action],
) -> ConnectionOwner {
    match scenario.and_then(|scenario| scenario.connection) {
        Some(Connection::User) => return ConnectionOwner::User,
        Some(Connection::Session) => return ConnectionOwner::Session,
        Some(Connection::Request) => return ConnectionOwner::Request,
        Some(Connection::Shared) => return ConnectionOwner::Shared,
        None => {}
    }
    let Some(scenario) = scenario else { return ConnectionOwner::User };
    let phases = if scenario.phases.is_empty() { &experiment.phases } else { &scenario.phases };
    let arrives = phases.iter().any(Phase::is_open)
        && phases.iter().all(|phase| phase.is_open() || !phase.has_requests())
        && !phases.iter().any(|phase| matches!(phase.load.value, PhaseLoad::Hold(_)));
    let one_request = matches!(journey, [Action::Request(_)]) && before.is_empty() && after.is_empty();
    if arrives && (one_request || experiment.connections.is_some()) {
        ConnectionOwner::Shared
    } else {
        ConnectionOwner::User
    }
}
