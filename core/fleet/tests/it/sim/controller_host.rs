//! Simulates the process around a controller: its journal and its archive.

use std::collections::BTreeMap;

use wavetank_fleet::{AgentId, ArchivedIntervals, Controller, JournalRecord, Outcome, RunHistory, RunSetup};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::host::digest;

/// What the controller's disk has, and what its process knows besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControllerDisk {
    pub(crate) journal: Vec<JournalRecord>,
    /// Stored intervals of each agent, in order.
    pub(crate) archive: BTreeMap<String, Vec<(u64, u64)>>,
    /// How many intervals of each agent were noticed, and how many of them were never stored.
    pub(crate) noticed: BTreeMap<String, ArchivedIntervals>,
    /// How much of the archive is durable, by agent.
    durable: BTreeMap<String, ArchivedIntervals>,
    /// Data that arrived with a report, until the controller notices its interval.
    staged: BTreeMap<(AgentId, u64), u64>,
}

impl ControllerDisk {
    pub(crate) fn stage(&mut self, agent: AgentId, seq: u64, content: u64) {
        self.staged.insert((agent, seq), content);
    }

    /// The next interval of an agent is noticed.
    pub(crate) fn append(&mut self, name: &str, agent: AgentId, seq: u64, stored: bool) {
        let noticed = self.noticed.entry(name.to_owned()).or_default();
        assert_eq!(seq, noticed.seen, "{name}: each interval once, in order");
        noticed.seen += 1;
        noticed.unstored += u64::from(!stored);
        let content = self.staged.remove(&(agent, seq));
        if stored {
            let content = content.expect("an interval is noticed only with its data");
            self.archive.entry(name.to_owned()).or_default().push((seq, content));
        }
    }

    /// All of the archive is made durable. Returns the digests of the outcome's agents.
    pub(crate) fn sync(&mut self, outcome: &Outcome) -> Vec<String> {
        self.durable.clone_from(&self.noticed);
        let intervals = |name: &String| self.archive.get(name).cloned().unwrap_or_default();
        outcome.agents.iter().map(|agent| digest(&intervals(&agent.name))).collect()
    }

    /// Whether these intervals of an agent are durable.
    pub(crate) fn is_durable(&self, name: &str, intervals: &[(u64, u64)]) -> bool {
        let durable = self.durable.get(name).copied().unwrap_or_default();
        let archive = self.archive.get(name).map_or(&[][..], Vec::as_slice);
        archive == intervals && archive.iter().all(|(seq, _)| *seq < durable.seen)
    }

    /// The process dies: some of what was not durable is lost.
    pub(crate) fn crash(&mut self, random: &mut Philox) {
        self.staged.clear();
        for (name, noticed) in &mut self.noticed {
            let durable = self.durable.get(name).copied().unwrap_or_default();
            let kept = durable.seen + random.below(noticed.seen - durable.seen + 1);
            let archive = self.archive.entry(name.clone()).or_default();
            archive.retain(|(seq, _)| *seq < kept);
            // The last interval that is there says how far the archive reaches: unstored ones after
            // it are reported again.
            let reached = archive.last().map_or(0, |(seq, _)| seq + 1).max(durable.seen);
            *noticed = ArchivedIntervals { seen: reached, unstored: reached - archive.len() as u64 };
        }
    }

    /// The next controller of the run.
    pub(crate) fn resume(&self, setup: &RunSetup, now: Nanos) -> Controller {
        let history = RunHistory::from_records(&self.journal);
        let setup = RunSetup { epoch: history.epoch + 1, ..setup.clone() };
        Controller::resume(setup, &history, &self.noticed, now)
    }
}
