//! [`SessionForecast`]: what one user's session sends and how long it takes, as far as the plan says.

use super::walk::ActionWalker;
use super::{BoundedEstimate, ListCost};
use crate::{ConnectionOwner, Nanos, Plan, Scenario};

/// A session of so many requests without a pause is a closed loop in disguise.
const LOOP_REQUESTS: f64 = 100.0;

/// What a scenario's users do, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionForecast {
    /// What a user does first, once.
    pub before: ListCost,
    /// What each session does.
    pub session: ListCost,
    /// What a user does at last, once.
    pub after: ListCost,
    /// Requests of each step in one session, by index.
    pub steps: Vec<BoundedEstimate>,
    /// Requests of each step in a user's `before` and `after`, by index.
    pub steps_around: Vec<BoundedEstimate>,
    /// Passages of each group, by index, in one session.
    pub groups: Vec<BoundedEstimate>,
    /// From the start of a user's session to that of the next at least.
    pub pace: Option<Nanos>,
    /// Requests of a session do not wait for anything but their answers.
    pub breathless: bool,
    /// A session may end the run.
    pub ends_run: bool,
    /// Targets that a session speaks to, each over a connection of its own.
    pub targets: usize,
    /// Who owns connections.
    pub connection: ConnectionOwner,
    /// The longest that a user with one session may take, timeouts and all.
    pub longest: Nanos,
}

impl SessionForecast {
    pub(super) fn for_scenario(scenario: &Scenario, plan: &Plan) -> Self {
        let (steps, groups) = (scenario.steps.len(), scenario.groups.len());
        let mut walk = ActionWalker {
            scenario,
            plan,
            steps: vec![BoundedEstimate::ZERO; steps],
            groups: vec![BoundedEstimate::ZERO; groups],
            ends_run: false,
        };
        let once = BoundedEstimate::exact(1.0);
        let session = walk.list(&scenario.journey, once).0;
        let fresh = (vec![BoundedEstimate::ZERO; steps], vec![BoundedEstimate::ZERO; groups]);
        let (of_session, of_groups) =
            (std::mem::replace(&mut walk.steps, fresh.0), std::mem::replace(&mut walk.groups, fresh.1));
        let before = walk.list(&scenario.before, once).0;
        let after = walk.list(&scenario.after, once).0;
        let mut targets: Vec<usize> = scenario.steps.iter().map(|step| step.target).collect();
        targets.sort_unstable();
        targets.dedup();
        let breathless = session.think_ns.most.is_some_and(|most| most <= 0.0) && scenario.pace.is_none();
        Self {
            before,
            session,
            after,
            steps: of_session,
            steps_around: walk.steps,
            groups: of_groups,
            pace: scenario.pace,
            breathless,
            ends_run: walk.ends_run,
            targets: targets.len().max(1),
            connection: scenario.connection,
            longest: scenario.max_duration(plan.http.timeout),
        }
    }

    /// Whether its sessions go on for very long and wait for nothing but answers: how many requests come of them is
    /// the target's doing, whatever starts the sessions.
    pub fn is_loop(&self) -> bool {
        self.breathless && self.session.requests.least >= LOOP_REQUESTS
    }

    /// A user with one session, first and last steps included: what arrives in the open model.
    pub fn whole(&self) -> ListCost {
        self.before.plus(self.session).plus(self.after)
    }

    /// From the start of one session to that of the next, if answers took no time beyond what paths name.
    pub fn cycle_time(&self) -> BoundedEstimate {
        let floor = self.session.min_duration();
        let pace = self.pace.map_or(0.0, |pace| pace.0 as f64);
        BoundedEstimate {
            least: floor.least.max(pace),
            mean: floor.mean.map(|mean| mean.max(pace)),
            most: floor.most.map(|most| most.max(pace)),
        }
    }
}
