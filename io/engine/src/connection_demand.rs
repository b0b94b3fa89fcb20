//! [`ConnectionDemand`]: how many connections a plan has beside those that users have for themselves.

use wavetank_plan::{ConnectionOwner, Phase, Plan};

/// See the module's description. Totals of the whole run, at any one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionDemand {
    /// Shared by sessions.
    pub(crate) shared: u64,
    /// Of sessions that arrive, which have connections of their own.
    pub(crate) own: u64,
}

impl ConnectionDemand {
    /// What the phases of `plan` have that run beside each other.
    pub(crate) fn for_plan(plan: &Plan) -> Self {
        let at_once = |connections: &dyn Fn(&Phase) -> u64| {
            let beside = |first: &Phase| {
                let beside = plan.phases.iter().filter(|other| other.is_active_at(first.start));
                beside.map(connections).fold(0, u64::saturating_add)
            };
            plan.phases.iter().map(beside).max().unwrap_or(0)
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

/// How many connections a load thread may come to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotCounts {
    /// Users have so many of their own, for as long as they stay: the first seats of all.
    pub(crate) own: u32,
    /// Of those, so many are held, and idle for most of the time.
    pub(crate) held: u32,
    /// So many are shared at most.
    pub(crate) pool: u32,
    /// So many belong to sessions that arrive, or lead users to further targets: a guess, not a limit.
    pub(crate) guests: u32,
}

impl SlotCounts {
    /// All of them.
    pub(crate) const fn all(self) -> u32 {
        self.own.saturating_add(self.pool).saturating_add(self.guests)
    }
}

/// Whether users of a scenario, if there are any, always send on the seat that they have.
pub(crate) fn uses_dedicated_slot(plan: &Plan, scenario: u16) -> bool {
    match plan.scenarios[usize::from(scenario)].connection {
        ConnectionOwner::User | ConnectionOwner::Request => true,
        ConnectionOwner::Session | ConnectionOwner::Shared => {
            let does = |phase: &Phase| phase.mix.parts().iter().any(|&(part, _)| part == scenario);
            !plan.phases.iter().any(|phase| phase.load.levels().is_some() && does(phase))
        }
    }
}
