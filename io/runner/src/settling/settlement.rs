//! [`Settlement`]: one run, settled as far as its hosts allow.

use std::collections::BTreeMap;

use wavetank_fleet::wire::encode_record;
use wavetank_record::{AgentDoc, PlanDoc, RunRecord};
use wavetank_report::agent_lack;
use wavetank_store::{ArchiveSettling, StoreProblem, open};
use wavetank_units::UserError;

use super::agent_facts::AgentFacts;
use super::settled_events::{AddedLines, phase_ends, settled, unseen_losses};
use super::settled_fleet::{FetchedSpool, SettledFleet};
use super::settled_record::settled_record;
use super::spools::HostSpools;
use super::unsettled_run::{UnsettledRun, cannot_settle};

/// A run that was settled as far as its hosts allow.
pub struct Settlement {
    /// The archive's folder.
    pub run: String,
    /// The run's number.
    pub number: u64,
    /// Its record, computed again.
    pub record: RunRecord,
    /// The state of each agent, `settled` or `complete`, or what the archive lacks of it.
    pub agents: Vec<(String, Result<&'static str, String>)>,
    /// Intervals that the archive did not have.
    pub added: u64,
}

impl Settlement {
    /// Fetches the spools of a run, merges them into its archive, computes its record again, and
    /// deletes the spools.
    ///
    /// # Errors
    /// If the archive cannot be read or written. Spools are kept then.
    pub(super) fn make(run: &UnsettledRun, hosts: &HostSpools<'_>) -> Result<Self, UserError> {
        let plan = run.opened.plan()?;
        let mut archive = run.lock()?;
        let mut lines = AddedLines::new(&plan, &run.opened.samples);
        let (spools, failures) = fetch(run, hosts, &mut archive, &mut lines);
        let failed = |problem: StoreProblem| {
            cannot_settle(&run.shown(), &problem.to_string(), "free some space, and settle it again")
        };
        let former = run.opened.record.as_ref().and_then(|record| record.fleet.as_ref());
        let cores = run.history.agents.iter().map(|agent| (agent.name.clone(), hosts.cores(&agent.name)));
        let cores = cores.collect();
        let facts = AgentFacts::read(&run.opened)?;
        let fleet =
            SettledFleet { history: &run.history, spools: &spools, facts: &facts, former, cores: &cores };
        let end = |name: &str| facts.get(name).map_or(wavetank_units::Nanos::ZERO, |facts| facts.end);
        let added = spools.iter().filter(|(_, spool)| spool.added > 0);
        lines.events.extend(added.map(|(name, spool)| settled(name, spool.added, end(name))));
        // A host that could not be asked may still have what is missing.
        let asked = run.history.agents.iter().filter(|agent| !failures.contains_key(&agent.name));
        let ends: Vec<_> = asked.map(|agent| (agent.name.clone(), fleet.end(&agent.name))).collect();
        lines.events.extend(unseen_losses(&run.opened.events, &ends, &facts));
        lines.events.extend(phase_ends(&plan, &run.opened.events, &facts));
        archive.add_samples(&lines.added_samples).map_err(failed)?;
        archive.add_events(&lines.events).map_err(failed)?;
        let opened = open(&run.opened.dir)?;
        let record = settled_record(&opened, (&plan, fleet.doc(&plan)), &facts)?;
        archive.add_journal(fleet.journal().iter().map(encode_record).collect()).map_err(failed)?;
        archive.finish(&record).map_err(failed)?;
        // From here on the archive is durable.
        let whole = spools.iter().filter(|(_, spool)| spool.damaged == 0);
        let whole = whole.map(|(name, spool)| (name.clone(), run.number, spool.digest.clone()));
        let kept = hosts.delete(&whole.collect::<Vec<_>>());
        let is_ended = |name: &str| run.history.ended.contains_key(name);
        let agents = states(&record, &spools, (&failures, &kept), is_ended);
        let added = spools.values().map(|spool| spool.added).sum();
        Ok(Self { run: run.shown(), number: run.number, record, agents, added })
    }

    /// Whether the archive has everything that agents kept, and no agent keeps it any more.
    pub fn is_complete(&self) -> bool {
        self.agents.iter().all(|(_, state)| state.is_ok())
    }
}

/// Merges the spools of all agents of a run. Returns them, and why others could not be merged.
fn fetch(
    run: &UnsettledRun,
    hosts: &HostSpools<'_>,
    archive: &mut ArchiveSettling,
    lines: &mut AddedLines,
) -> (BTreeMap<String, FetchedSpool>, BTreeMap<String, String>) {
    let (mut spools, mut failures) = (BTreeMap::new(), BTreeMap::new());
    let plan_hash = PlanDoc::hash(&run.opened.plan_yaml);
    for agent in &run.history.agents {
        let name = &agent.name;
        let spool = match hosts.listed.get(name) {
            None => Err("its host is not selected".to_owned()),
            Some(Err(reason)) => Err(reason.clone()),
            Some(Ok(_)) => Ok(hosts.spool(name, run.number)),
        };
        let spool = match spool {
            Ok(Some(spool)) => spool,
            Ok(None) => continue,
            Err(_) if run.history.ended.contains_key(name) => continue,
            Err(reason) => {
                failures.insert(name.clone(), reason);
                continue;
            }
        };
        let merged = if spool.damaged {
            Err("its spool is damaged: the first line cannot be read".to_owned())
        } else if spool.plan_hash != plan_hash {
            Err("its spool is of another plan".to_owned())
        } else {
            hosts.merge(name, spool, archive)
        };
        match merged {
            Ok(merged) => {
                lines.add(name, merged.extras);
                let (added, damaged, digest) = (merged.added, merged.damaged, merged.digest);
                spools.insert(name.clone(), FetchedSpool { doc: spool.clone(), added, damaged, digest });
            }
            Err(reason) => {
                failures.insert(name.clone(), reason);
            }
        }
    }
    (spools, failures)
}

/// Returns the state of each agent, or what the archive lacks and the agent may still have.
fn states(
    record: &RunRecord,
    spools: &BTreeMap<String, FetchedSpool>,
    (failures, kept): (&BTreeMap<String, String>, &BTreeMap<String, String>),
    is_ended: impl Fn(&str) -> bool,
) -> Vec<(String, Result<&'static str, String>)> {
    let agents = record.fleet.iter().flat_map(|fleet| &fleet.agents);
    let state = |agent: &AgentDoc| {
        let name = &agent.name;
        if let Some(reason) = failures.get(name).or_else(|| kept.get(name)) {
            return Err(reason.clone());
        }
        match spools.get(name) {
            Some(spool) if spool.damaged > 0 => {
                Err(format!("its spool stays: {} of its lines cannot be read", spool.damaged))
            }
            Some(_) => Ok("settled"),
            None if is_ended(name) => Ok("complete"),
            None => match agent_lack(agent) {
                Some(lack) => Err(format!("it keeps nothing of this run: {lack}")),
                None => Ok("complete"),
            },
        }
    };
    agents.map(|agent| (agent.name.clone(), state(agent))).collect()
}
