//! [`DueAgents`]: when something happens at each agent next. Looking at each agent for each event
//! would take time with the square of the fleet.

use std::collections::BTreeSet;

use wavetank_units::Nanos;

/// See the module's description.
#[derive(Debug)]
pub(crate) struct DueAgents {
    of_agent: Vec<Option<Nanos>>,
    in_order: BTreeSet<(Nanos, usize)>,
}

impl DueAgents {
    pub(crate) fn new(agents: usize) -> Self {
        Self { of_agent: vec![None; agents], in_order: BTreeSet::new() }
    }

    /// Something happens at this agent next at `at`, or nothing without a message.
    pub(crate) fn set(&mut self, number: usize, at: Option<Nanos>) {
        if let Some(former) = std::mem::replace(&mut self.of_agent[number], at) {
            self.in_order.remove(&(former, number));
        }
        self.in_order.extend(at.map(|at| (at, number)));
    }

    /// When something happens at any agent first.
    pub(crate) fn first(&self) -> Option<Nanos> {
        self.in_order.first().map(|(at, _)| *at)
    }

    /// The agents at which something happens at `now` or before.
    pub(crate) fn due_at(&self, now: Nanos) -> impl Iterator<Item = usize> {
        self.in_order.iter().take_while(move |(at, _)| *at <= now).map(|(_, number)| *number)
    }
}
