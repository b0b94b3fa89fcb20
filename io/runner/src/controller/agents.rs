//! [`Agents`]: the agents of a run, and how their controller is set up.

use std::sync::Arc;

use wavetank_driver::{Clock, WallClock};
use wavetank_engine::{LoadConfig, LoadThreads};
use wavetank_fleet::{AgentId, Clocks, ControllerMessage, Members, RunId, RunSetup};
use wavetank_link::{ControllerLink, in_process};
use wavetank_plan::{Load, Phase, Plan};
use wavetank_units::Nanos;

use crate::agent_host::AgentHost;
use crate::fleet_run::{FleetRun, FleetTolerance};
use crate::remote_agents::RemoteAgents;

/// From the commitment to the first thing sent by this process: more than a busy host holds it up.
const MARGIN: Nanos = Nanos::from_millis(50);
/// Time an agent has to get ready, in addition to the longest time for opening connections.
const PREPARE_SLACK: Nanos = Nanos::from_secs(60);
/// Numbers of runs that begin in the same millisecond.
const RUNS_PER_MS: u64 = 1_000;
/// What an agent is given beyond the plan's own end before it must stop by itself.
const END_SLACK: Nanos = Nanos::from_secs(10);

/// What carries out the load.
pub(crate) enum LoadSide {
    /// Load threads of this process.
    Local(LoadConfig),
    /// The agents of a fleet, which get this package of the plan.
    Fleet(FleetRun, String),
}

/// The agents of a run.
pub(super) enum Agents {
    /// One, in this process.
    Local(ControllerLink, Box<AgentHost>),
    /// Those of a fleet.
    Remote(Box<RemoteAgents>),
}

impl Agents {
    /// Those of `side`, for a run of `plan`.
    pub(super) fn new(side: LoadSide, plan: &Arc<Plan>, plan_hash: &str, clock: Clock) -> Self {
        match side {
            LoadSide::Local(means) => {
                let (link, mut agents) = in_process(1);
                let agent_link = agents.pop().expect("a link for one agent has one end for it");
                let host = AgentHost::new(agent_link, Arc::clone(plan), plan_hash, clock, means);
                Self::Local(link, Box::new(host))
            }
            LoadSide::Fleet(fleet, package) => Self::Remote(Box::new(RemoteAgents::new(fleet, package))),
        }
    }

    /// Sends a message. A lost one is repeated by the controller's machine.
    pub(super) fn send(&self, to: AgentId, message: ControllerMessage) {
        match self {
            Self::Local(link, _) => drop(link.send(to, message)),
            Self::Remote(remote) => remote.send(to, message),
        }
    }
}

/// Returns the controller's settings of a run.
pub(super) fn run_setup(plan: &Plan, plan_hash: &str, side: &LoadSide) -> RunSetup {
    let version = env!("CARGO_PKG_VERSION");
    let setup = match side {
        LoadSide::Local(_) => RunSetup { margin: MARGIN, ..RunSetup::new(1, version, plan_hash) },
        LoadSide::Fleet(fleet, _) => {
            // Each later controller of these agents has a higher epoch, in another run as well.
            let epoch = (WallClock::unix_ns() / 1_000_000).unsigned_abs().max(1);
            let run = RunId(epoch * RUNS_PER_MS + u64::from(std::process::id()) % RUNS_PER_MS);
            let members = Members::Named(fleet.members());
            let setup = RunSetup::fleet(run, epoch, version, plan_hash, members);
            let FleetTolerance { on_loss, start, lease } = fleet.tolerance;
            let clocks = Clocks::Measured { tolerance: start };
            RunSetup { on_loss, clocks, orphan_grace: lease, ..setup }
        }
    };
    let begins = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
    RunSetup {
        // Before the zero there is the warm-up.
        lead_in: Nanos::ZERO - begins,
        prepare_max: prepare_max(plan),
        end_by: plan.load_end().map(|end| end.after(plan.drain).after(END_SLACK)),
        rebalance: can_rebalance(plan),
        phase_starts: plan.phases.iter().map(|phase| phase.start).collect(),
        ..setup
    }
}

/// Whether the shares of lost agents can go to the others. Arrivals have no history, while users
/// and held connections belong to their agent.
fn can_rebalance(plan: &Plan) -> bool {
    let has_users = |phase: &Phase| matches!(phase.load, Load::Closed { .. } | Load::Hold { .. });
    plan.shared.rendezvous.is_empty() && !plan.phases.iter().any(has_users)
}

/// How long getting ready may take.
pub(super) fn prepare_max(plan: &Plan) -> Nanos {
    LoadThreads::opening_time_max(plan).after(PREPARE_SLACK)
}
