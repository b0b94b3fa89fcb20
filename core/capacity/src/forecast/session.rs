//! [`SessionForecast`]: the requests of one user's session and its duration, where the plan
//! determines them.

use wavetank_units::Nanos;

use super::walk::ActionWalker;
use super::{BoundedEstimate, ListCost};
use wavetank_plan::{ConnectionOwner, Plan, Scenario};

/// A session with this number of requests and no pause is effectively a closed loop.
const LOOP_REQUESTS: f64 = 100.0;

/// The actions of a scenario's users, in numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionForecast {
    /// The first steps of a user, once.
    pub before: ListCost,
    /// The steps of each session.
    pub session: ListCost,
    /// The last steps of a user, once.
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
    /// Number of targets of a session, each with its own connection.
    pub targets: usize,
    /// The owner of connections.
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

    /// Returns whether the sessions go on for very long and wait only for responses. The target's
    /// speed then decides the number of requests, whatever starts the sessions.
    pub fn is_loop(&self) -> bool {
        self.breathless && self.session.requests.least >= LOOP_REQUESTS
    }

    /// A user with one session, first and last steps included: what arrives in the open loop.
    pub fn whole(&self) -> ListCost {
        self.before.plus(self.session).plus(self.after)
    }

    /// Returns the time from the start of one session to the start of the next, if responses took
    /// only the delays named in paths.
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
