//! [`AgentFacts`]: what the intervals of an agent in an archive show.

use std::collections::BTreeMap;

use wavetank_record::{AgentHealth, ConnectionMemory, EndRunRequest, IntervalExtras, IntervalLine};
use wavetank_store::OpenedRun;
use wavetank_units::{Nanos, UserError};

/// What the intervals of an agent show.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentFacts {
    /// How many intervals the archive has.
    pub(super) lines: u64,
    /// One more than the number of the last one.
    pub(super) next: u64,
    /// End of the last one, on the run's clock.
    pub(super) end: Nanos,
    /// Requests that it sent.
    pub(super) sent: u64,
    pub(super) health: Option<AgentHealth>,
    pub(super) memory: Option<ConnectionMemory>,
    /// When its last request was resolved, if none is open any more.
    pub(super) drained: Option<Nanos>,
    /// Inconsistencies in its counters.
    pub(super) accounting: Vec<String>,
    pub(super) end_run: Option<EndRunRequest>,
}

impl AgentFacts {
    /// Reads those of all agents in an archive, by name.
    ///
    /// # Errors
    /// If the files cannot be read at all.
    pub(super) fn read(opened: &OpenedRun) -> Result<BTreeMap<String, Self>, UserError> {
        let mut agents: BTreeMap<String, Self> = BTreeMap::new();
        opened.read_agents(|line, extras| agents.entry(line.agent.clone()).or_default().add(line, extras))?;
        Ok(agents)
    }

    fn add(&mut self, line: &IntervalLine, extras: IntervalExtras) {
        (self.lines, self.next) = (self.lines + 1, self.next.max(line.seq + 1));
        self.end = self.end.max(line.interval.end());
        self.sent += line.interval.steps.iter().map(|series| series.counters.sent).sum::<u64>();
        self.health = extras.health.or(self.health);
        self.memory = extras.memory.or(self.memory);
        self.drained = extras.drained_ns.map(Nanos).or(self.drained);
        self.accounting.extend(extras.accounting);
        self.end_run = self.end_run.or(extras.end_run);
    }
}
