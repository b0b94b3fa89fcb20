//! [`ConnectionDemand`]: the number of connections a plan needs, not counting those dedicated to
//! users.

use wavetank_plan::{ConnectionOwner, Phase, Plan};

/// The connections needed at any one time, as totals of the whole run; see the module
/// documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionDemand {
    /// Shared by sessions.
    pub(crate) shared: u64,
    /// Dedicated to sessions of the open loop.
    pub(crate) own: u64,
}

impl ConnectionDemand {
    /// Returns the connections that simultaneous phases of `plan` need.
    pub(crate) fn for_plan(plan: &Plan) -> Self {
        let at_once = |connections: &dyn Fn(&Phase) -> u64| {
            let alongside = |first: &Phase| {
                let alongside = plan.phases.iter().filter(|other| other.is_active_at(first.start));
                alongside.map(connections).fold(0, u64::saturating_add)
            };
            plan.phases.iter().map(alongside).max().unwrap_or(0)
        };
        let does = |phase: &Phase, shares: bool| {
            let shared = |&(part, _): &(u16, u64)| {
                plan.scenarios[usize::from(part)].connection == ConnectionOwner::Shared
            };
            phase.mix.parts().iter().any(|part| shared(part) == shares)
        };
        let holds = |phase: &Phase| matches!(phase.load, wavetank_plan::Load::Hold { .. });
        let shared = |phase: &Phase| if does(phase, true) && !holds(phase) { phase.connections } else { 0 };
        let own =
            |phase: &Phase| if does(phase, false) && phase.load.is_open() { phase.connections } else { 0 };
        Self { shared: at_once(&shared), own: at_once(&own) }
    }
}

/// The number of connections that a load thread may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotCounts {
    /// Connections dedicated to users for as long as they are present. Their slots come first.
    pub(crate) own: u32,
    /// The held connections among those, which are idle most of the time.
    pub(crate) held: u32,
    /// The maximum number of shared connections.
    pub(crate) pool: u32,
    /// Connections of sessions of the open loop, and connections of users to further targets. This
    /// is an estimate, not a limit.
    pub(crate) guests: u32,
}

impl SlotCounts {
    /// The sum of all kinds.
    pub(crate) const fn all(self) -> u32 {
        self.own.saturating_add(self.pool).saturating_add(self.guests)
    }
}

/// Whether users of a scenario, if it has any, always send on their own slot.
pub(crate) fn uses_dedicated_slot(plan: &Plan, scenario: u16) -> bool {
    match plan.scenarios[usize::from(scenario)].connection {
        ConnectionOwner::User | ConnectionOwner::Request => true,
        ConnectionOwner::Session | ConnectionOwner::Shared => {
            let does = |phase: &Phase| phase.mix.parts().iter().any(|&(part, _)| part == scenario);
            !plan.phases.iter().any(|phase| phase.load.levels().is_some() && does(phase))
        }
    }
}
