//! [`FleetMerger`]: merges the intervals of agents into intervals of the whole fleet.

use std::collections::{BTreeMap, BTreeSet};

use wavetank_units::Nanos;

use crate::Interval;
use crate::agent_gauges::AgentGauges;

/// Merges the intervals of a fleet's agents, those of one start into one.
///
/// Agents have numbers from 0, by the order of their names. Merged load threads have the number of
/// their agent, so that they stay separate. Merged intervals are polled in order of time once they
/// are sealed. They depend on what was delivered before the seal, not on its order.
///
/// A seal may have no interval of an agent. The agent's gauges are then those of its latest one,
/// because requests and connections of an agent that is late, or has ended, are not resolved by
/// that. An agent that is lost loses what it held, see [`FleetMerger::agent_lost`].
#[derive(Clone, Debug, Default)]
pub struct FleetMerger {
    agents: Vec<AgentState>,
    /// Intervals that are not polled yet, by their start.
    partial: BTreeMap<Nanos, Partial>,
    /// Intervals that start here or earlier are sealed.
    sealed: Option<Nanos>,
    amended: bool,
}

/// One agent, as far as its intervals show it.
#[derive(Clone, Debug, Default)]
struct AgentState {
    presence: Presence,
    /// Gauges of its latest interval that was polled.
    gauges: Option<AgentGauges>,
    /// What it held was counted as lost.
    was_written_off: bool,
    /// Intervals below this number were delivered.
    next: u64,
    /// Delivered intervals beyond it.
    beyond: BTreeSet<u64>,
    /// Start of the latest interval of each number that is not polled yet.
    starts: BTreeMap<u64, Nanos>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Presence {
    #[default]
    Expected,
    Ended,
    Lost,
}

/// What was delivered for one start.
#[derive(Clone, Debug, Default)]
struct Partial {
    interval: Interval,
    gauges: BTreeMap<usize, AgentGauges>,
}

impl FleetMerger {
    /// Creates one for `agents` agents.
    pub fn new(agents: u16) -> Self {
        Self { agents: vec![AgentState::default(); usize::from(agents)], ..Self::default() }
    }

    /// Whether interval number `seq` of `agent` was delivered already.
    pub fn has(&self, agent: u16, seq: u64) -> bool {
        let agent = self.agents.get(usize::from(agent));
        agent.is_some_and(|agent| seq < agent.next || agent.beyond.contains(&seq))
    }

    /// Adds interval number `seq` of `agent`. A repeated one, and one of an unknown agent, has no
    /// effect.
    ///
    /// Returns the interval as an amendment if the fleet's interval was sealed without it. Its
    /// gauges are those of one agent alone. It is for [`crate::Ledger::amend`].
    pub fn deliver(&mut self, agent: u16, seq: u64, mut interval: Interval) -> Option<Interval> {
        let number = usize::from(agent);
        if self.has(agent, seq) || number >= self.agents.len() {
            return None;
        }
        let (state, from) = (&mut self.agents[number], interval.from);
        state.note(seq);
        interval.threads.iter_mut().for_each(|thread| thread.agent = agent);
        let gauges = AgentGauges::of(&interval);
        if self.sealed.is_some_and(|sealed| from <= sealed) && !self.partial.contains_key(&from) {
            self.amended = true;
            let is_latest = state.gauges.as_ref().is_none_or(|known| known.from < from);
            if is_latest && state.presence != Presence::Lost {
                state.gauges = Some(gauges);
            }
            return Some(interval);
        }
        state.starts.insert(seq, from);
        let partial = self.partial.entry(from).or_default();
        partial.gauges.insert(number, gauges);
        if partial.gauges.len() == 1 {
            partial.interval = interval;
        } else {
            partial.interval.merge(&interval);
        }
        None
    }

    /// Seals the fleet's interval number `seq`: everything that was delivered with this number or a
    /// lower one, and whatever starts before it.
    pub fn seal(&mut self, seq: u64) {
        let starts = self.agents.iter().filter_map(|agent| agent.starts.range(..=seq).next_back());
        if let Some(until) = starts.map(|(_, from)| *from).max() {
            self.seal_until(until);
        }
    }

    /// Seals every interval that starts at `from` or earlier.
    pub fn seal_until(&mut self, from: Nanos) {
        self.sealed = self.sealed.max(Some(from));
    }

    /// Records that `agent` has delivered its last interval. What it left open stays open.
    pub fn agent_ended(&mut self, agent: u16) {
        self.set_presence(agent, Presence::Ended);
    }

    /// Records that `agent` is lost. With the next interval that it has not delivered, its
    /// connections count as lost, and its requests and sessions as failed.
    ///
    /// If the agent returns, its own intervals show what became of them: see
    /// [`FleetMerger::agent_back`].
    pub fn agent_lost(&mut self, agent: u16) {
        self.set_presence(agent, Presence::Lost);
    }

    /// Records that `agent`, which was lost, is heard again. If what it held was counted as lost by
    /// then, the fleet's intervals are exact only if they are merged again from the archive.
    pub fn agent_back(&mut self, agent: u16) {
        if let Some(state) = self.agents.get_mut(usize::from(agent))
            && state.presence == Presence::Lost
        {
            state.presence = Presence::Expected;
            self.amended |= std::mem::take(&mut state.was_written_off);
        }
    }

    /// Whether intervals were polled that lack an amendment, or count something as lost that an
    /// agent still had. The result of the run must then be computed from its archive.
    pub const fn is_amended(&self) -> bool {
        self.amended
    }

    /// Returns the next sealed interval of the fleet.
    pub fn poll(&mut self) -> Option<Interval> {
        let first = self.partial.first_entry()?;
        let from = *first.key();
        if self.sealed.is_none_or(|sealed| from > sealed) {
            return None;
        }
        let Partial { mut interval, mut gauges } = first.remove();
        for (number, agent) in self.agents.iter_mut().enumerate() {
            match gauges.remove(&number) {
                Some(latest) => agent.gauges = Some(latest),
                None => agent.fill_in(&mut interval),
            }
            agent.starts.retain(|_, start| *start > from);
        }
        interval.sort();
        Some(interval)
    }

    fn set_presence(&mut self, agent: u16, presence: Presence) {
        if let Some(agent) = self.agents.get_mut(usize::from(agent)) {
            agent.presence = presence;
        }
    }
}

impl AgentState {
    fn note(&mut self, seq: u64) {
        self.beyond.insert(seq);
        while self.beyond.remove(&self.next) {
            self.next += 1;
        }
    }

    /// Adds what is known of an agent that has not delivered `interval`.
    fn fill_in(&mut self, interval: &mut Interval) {
        let Some(gauges) = &self.gauges else { return };
        match self.presence {
            Presence::Expected => gauges.hold(interval, false),
            Presence::Ended => gauges.hold(interval, true),
            Presence::Lost => {
                gauges.lose(interval);
                (self.gauges, self.was_written_off) = (None, true);
            }
        }
    }
}
