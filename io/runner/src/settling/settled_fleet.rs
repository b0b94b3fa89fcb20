//! [`SettledFleet`]: what became of each agent of a run, once its spools are merged.

use std::collections::BTreeMap;

use wavetank_fleet::{AgentEnd, Done, EndCause, JournalAgent, JournalRecord, Loss, RunHistory};
use wavetank_plan::Plan;
use wavetank_record::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc, FleetStatusDoc};
use wavetank_report::lacking_agents;

use super::agent_facts::AgentFacts;
use super::spool_list::SpoolDoc;
use crate::end_doc;

/// A spool that was merged.
pub(super) struct FetchedSpool {
    pub(super) doc: SpoolDoc,
    /// Intervals that the archive did not have.
    pub(super) added: u64,
    /// Lines that cannot be read.
    pub(super) damaged: u64,
    /// Digest of its intervals.
    pub(super) digest: String,
}

/// What became of each agent of a run.
pub(super) struct SettledFleet<'a> {
    pub(super) history: &'a RunHistory,
    /// The spools that were merged, by agent.
    pub(super) spools: &'a BTreeMap<String, FetchedSpool>,
    pub(super) facts: &'a BTreeMap<String, AgentFacts>,
    /// The record of the run before, if it has one.
    pub(super) former: Option<&'a FleetDoc>,
    /// CPUs of each agent, by name.
    pub(super) cores: &'a BTreeMap<String, u32>,
}

impl SettledFleet<'_> {
    /// Returns the agents for the run's record.
    pub(super) fn doc(&self, plan: &Plan) -> FleetDoc {
        let agents = self.history.agents.iter().map(|agent| self.agent_doc(agent, plan)).collect();
        let former = self.former.cloned().unwrap_or_default();
        let mut doc = FleetDoc { agents, status: FleetStatusDoc::Complete, ..former };
        let is_refused = |agent: &AgentDoc| !agent.refusals.is_empty();
        if !lacking_agents(&doc).is_empty() || doc.agents.iter().any(is_refused) {
            doc.status = match self.former.map(|former| former.status) {
                Some(FleetStatusDoc::Tolerated) => FleetStatusDoc::Tolerated,
                Some(FleetStatusDoc::Aborted) => FleetStatusDoc::Aborted,
                _ => FleetStatusDoc::Incomplete,
            };
        }
        doc
    }

    fn agent_doc(&self, agent: &JournalAgent, plan: &Plan) -> AgentDoc {
        let name = &agent.name;
        let former = self.former.and_then(|fleet| fleet.agents.iter().find(|one| one.name == *name));
        let former = former.cloned().unwrap_or_default();
        let facts = self.facts.get(name).cloned().unwrap_or_default();
        let health = facts.health.unwrap_or_default();
        let intervals = self.intervals(name).max(former.intervals);
        let known = self.cores.get(name).copied().filter(|cores| former.cores == 0 && *cores > 0);
        let losses = self.history.losses.iter().filter(|loss| loss.name == *name);
        AgentDoc {
            share: (agent.share.first, agent.share.width, agent.share.of),
            weight: agent.share.width,
            cores: known.unwrap_or(former.cores),
            sent: facts.sent,
            intervals,
            unstored: intervals - facts.lines.min(intervals),
            end: self.end(name),
            losses: losses.map(|loss| loss_doc(loss, plan)).collect(),
            cpu_user_s: health.cpu_user_s,
            cpu_system_s: health.cpu_system_s,
            peak_rss_bytes: health.peak_rss_bytes,
            name: name.clone(),
            ..former
        }
    }

    /// How many intervals an agent sealed, as far as it is known.
    fn intervals(&self, name: &str) -> u64 {
        let by_spool = self.spools.get(name).map_or(0, |spool| spool.doc.intervals);
        let by_journal = self.history.ended.get(name).map_or(0, |done| done.intervals);
        by_spool.max(by_journal).max(self.facts.get(name).map_or(0, |facts| facts.next))
    }

    /// How an agent ended. One without a spool and without a report of its end is lost.
    pub(super) fn end(&self, name: &str) -> AgentEndDoc {
        let by_spool = || Some(self.spools.get(name)?.doc.cause.unwrap_or(EndCause::Crashed));
        let cause = self.history.ended.get(name).map(|done| done.cause).or_else(by_spool);
        cause.map_or(AgentEndDoc::Lost, |cause| end_doc(AgentEnd::Sealed(cause)))
    }

    /// Whether the archive has all intervals of an agent that it will ever have.
    fn is_complete(&self, name: &str) -> bool {
        self.spools.get(name).is_some_and(|spool| spool.damaged == 0)
    }

    /// Returns what the journal lacks: the ends of agents that became known, and the end.
    pub(super) fn journal(&self) -> Vec<JournalRecord> {
        let ended = self.history.agents.iter().filter(|agent| !self.history.ended.contains_key(&agent.name));
        let mut records: Vec<JournalRecord> = ended
            .filter(|agent| self.is_complete(&agent.name))
            .filter_map(|agent| {
                let spool = &self.spools.get(&agent.name)?;
                let done = Done {
                    intervals: spool.doc.intervals,
                    cause: spool.doc.cause.unwrap_or(EndCause::Crashed),
                    first_sent: None,
                    digest: spool.digest.clone(),
                    adjustments: spool.doc.adjustments,
                };
                Some(JournalRecord::Ended { name: agent.name.clone(), done })
            })
            .collect();
        records.push(JournalRecord::Archived);
        if !self.history.over {
            records.push(JournalRecord::Over);
        }
        records
    }
}

fn loss_doc(loss: &Loss, plan: &Plan) -> AgentLossDoc {
    let phase = loss.phase.and_then(|index| plan.phases.get(usize::from(index)));
    AgentLossDoc {
        at_ns: loss.at.0,
        phase: phase.map(|phase| phase.name.clone()),
        last_interval: loss.last_interval,
    }
}
