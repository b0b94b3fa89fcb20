//! [`Peak`]: the highest number of simultaneous users, connections and requests of a plan.

use wavetank_units::Nanos;

use super::ConnectionDemand;
use crate::{Phase, Plan, PlanShare, PopulationCurve};

/// The highest simultaneous numbers. The peak of a phase includes the needs of sessions that
/// continue after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Connections.
    pub demand: ConnectionDemand,
    /// Users who have no connection to themselves.
    pub users: u64,
}

impl Peak {
    /// Returns the highest numbers of the whole plan.
    pub fn for_plan(plan: &Plan) -> Self {
        Self::for_share(plan, PlanShare::WHOLE)
    }

    /// Returns the highest numbers of a host that executes `share` of the plan.
    pub fn for_share(plan: &Plan, share: PlanShare) -> Self {
        let at = |begin: Nanos| {
            plan.phases.iter().filter(|phase| phase.is_active_at(begin)).fold(
                Self::default(),
                |sum, phase| {
                    // Arrivals that find no free connection wait, and above a limit they are
                    // dropped. The plan therefore needs nothing more for them.
                    let users = share.part_of(phase.load.levels().map_or(0, PopulationCurve::max));
                    let connections = share.part_of(phase.connections);
                    Self {
                        demand: sum.demand.plus(demand(phase, connections, plan)),
                        users: sum.users.saturating_add(users.saturating_sub(connections)),
                    }
                },
            )
        };
        plan.phases.iter().map(|phase| at(phase.start)).fold(Self::default(), |most, own| Self {
            demand: most.demand.or(own.demand),
            users: most.users.max(own.users),
        })
    }

    /// The most simultaneous connections.
    pub const fn connections(&self) -> u64 {
        self.demand.connections
    }
}

/// Returns the `connections` of a phase, and how many of them have an open request.
fn demand(phase: &Phase, connections: u64, plan: &Plan) -> ConnectionDemand {
    if phase.load.levels().is_none() {
        // Each arrival has an open request.
        return ConnectionDemand::busy(connections);
    }
    let of = |&(at, _): &(u16, u64)| plan.scenarios.get(usize::from(at));
    let shares = phase.mix.parts().iter().filter_map(of).map(|one| one.busy_share(plan.http.timeout));
    ConnectionDemand::shared(connections, shares.fold(0.0, f64::max))
}
