//! [`FleetResult`]: what became of the agents of a fleet, for the record and the verdict.

use wavetank_diagnose::{FleetGaps, Throttling};
use wavetank_fleet::{AgentEnd, AgentOutcome, AgentView, EndCause, FleetStatus, Loss, Outcome};
use wavetank_record::{AgentDoc, AgentEndDoc, AgentLossDoc, FleetDoc, FleetStatusDoc, Number};
use wavetank_report::lacking_agents;
use wavetank_units::{Nanos, UserError};

use super::{Agents, RunController};
use crate::run::remote_agents::RemoteAgent;

/// What became of the agents of a fleet.
pub(crate) struct FleetResult {
    pub(crate) doc: FleetDoc,
    pub(crate) gaps: FleetGaps,
    /// CPUs of all agents.
    pub(crate) cpus: u32,
    /// The largest share of CPU time that a hypervisor took from an agent.
    pub(crate) steal: Option<f64>,
    /// How a CPU quota stopped the agent that it stopped longest.
    pub(crate) throttling: Option<Throttling>,
}

impl FleetResult {
    /// CPU time of all agents in user mode and in the kernel, seconds.
    pub(crate) fn cpu_s(&self) -> (f64, f64) {
        let sum = |of: fn(&AgentDoc) -> Number| self.doc.agents.iter().map(|agent| of(agent).0).sum();
        (sum(|agent| agent.cpu_user_s), sum(|agent| agent.cpu_system_s))
    }

    /// Peak memory of the agent with the most, bytes.
    pub(crate) fn peak_rss_bytes(&self) -> u64 {
        self.doc.agents.iter().map(|agent| agent.peak_rss_bytes).max().unwrap_or(0)
    }
}

impl RunController<'_> {
    /// Handles the outcome of a fleet.
    ///
    /// # Errors
    /// If the run did not start, with every agent that kept it from starting.
    pub(super) fn apply_fleet_outcome(
        &mut self,
        outcome: &Outcome,
    ) -> Result<Option<FleetResult>, UserError> {
        if outcome.started_at.is_none() {
            let refused = outcome.refusals.iter().map(|refusal| {
                let message = format!("cannot start on {}: {}", refusal.name, refusal.reason);
                let hint = "give it a smaller weight, or leave it out: --without HOST";
                UserError::refused("fleet_refused", message, hint)
            });
            return UserError::combine(refused.collect()).map_or(Ok(None), Err);
        }
        self.recount();
        let views = self.controller.agents(self.now());
        let Agents::Remote(remote) = &self.agents else { return Ok(None) };
        let known = |outcome: &AgentOutcome| {
            let agent = remote.agents().iter().find(|agent| agent.name == outcome.name);
            (agent, views.iter().find(|view| view.name == outcome.name))
        };
        let agents: Vec<AgentDoc> = outcome
            .agents
            .iter()
            .map(|one| {
                let losses = outcome.losses.iter().filter(|loss| loss.name == one.name);
                agent_doc(one, known(one), losses.map(|loss| self.loss_doc(loss)).collect())
            })
            .collect();
        let doc = FleetDoc {
            status: status_doc(outcome.status),
            start_skew_us: outcome.start_skew.map(micros),
            start_uncertainty_us: micros(outcome.start_uncertainty),
            agents,
        };
        let gaps = FleetGaps {
            agents: outcome.agents.len() as u64,
            lacking: lacking_agents(&doc),
            tolerated: outcome.status == FleetStatus::Tolerated,
        };
        let health = || remote.agents().iter().filter_map(|agent| agent.health.as_ref());
        let throttled = health().filter_map(|health| health.throttled_ns).max().filter(|ns| *ns > 0);
        let stopped = throttled.map(|ns| Nanos(i64::try_from(ns).unwrap_or(i64::MAX)));
        Ok(Some(FleetResult {
            doc,
            gaps,
            cpus: remote.agents().iter().map(|agent| agent.cores).sum(),
            steal: health().filter_map(|health| health.steal.map(|share| share.0)).reduce(f64::max),
            throttling: stopped.map(|stopped| Throttling { stopped, ..Throttling::default() }),
        }))
    }

    /// Counts again from the archive if intervals came too late to be judged with the others.
    fn recount(&mut self) {
        let Agents::Remote(remote) = &self.agents else { return };
        if !remote.is_amended() {
            return;
        }
        let counted = self.book.archive.as_mut().map(|archive| {
            archive.sync_now().map_err(|problem| problem.to_string())?;
            let opened = wavetank_store::open(archive.dir()).map_err(|error| error.message)?;
            opened.ledger(&self.plan).map_err(|error| error.message)
        });
        match counted {
            Some(Ok((ledger, _))) => self.book.ledger = ledger,
            Some(Err(why)) => self.book.lost.push(format!("late intervals could not be counted: {why}")),
            None => {
                let text = "intervals came too late to be judged with the others, and there is no archive";
                self.book.lost.push(text.to_owned());
            }
        }
    }

    fn loss_doc(&self, loss: &Loss) -> AgentLossDoc {
        let phase = loss.phase.and_then(|index| self.plan.phases.get(usize::from(index)));
        AgentLossDoc {
            at_ns: loss.at.0,
            phase: phase.map(|phase| phase.name.clone()),
            last_interval: loss.last_interval,
        }
    }
}

fn agent_doc(
    outcome: &AgentOutcome,
    (agent, view): (Option<&RemoteAgent>, Option<&AgentView>),
    losses: Vec<AgentLossDoc>,
) -> AgentDoc {
    let health = agent.and_then(|agent| agent.health).unwrap_or_default();
    AgentDoc {
        name: outcome.name.clone(),
        share: (outcome.share.first, outcome.share.width, outcome.share.of),
        weight: outcome.share.width,
        cores: agent.map_or(0, |agent| agent.cores),
        sent: agent.map_or(0, |agent| agent.sent),
        intervals: outcome.intervals,
        unstored: outcome.unstored,
        end: end_doc(outcome.end),
        losses,
        refusals: outcome.refused.iter().map(|reason| format!("{reason:?}")).collect(),
        first_sent_ns: None,
        clock_uncertainty_us: view.and_then(|view| view.clock).map(|(_, error)| micros(error)),
        cpu_user_s: health.cpu_user_s,
        cpu_system_s: health.cpu_system_s,
        peak_rss_bytes: health.peak_rss_bytes,
    }
}

fn micros(time: Nanos) -> Number {
    Number::micros(time.0.unsigned_abs())
}

const fn status_doc(status: FleetStatus) -> FleetStatusDoc {
    match status {
        FleetStatus::Complete => FleetStatusDoc::Complete,
        FleetStatus::Tolerated => FleetStatusDoc::Tolerated,
        FleetStatus::Incomplete => FleetStatusDoc::Incomplete,
        FleetStatus::Aborted => FleetStatusDoc::Aborted,
        FleetStatus::NotStarted => FleetStatusDoc::NotStarted,
    }
}

const fn end_doc(end: AgentEnd) -> AgentEndDoc {
    match end {
        AgentEnd::Sealed(EndCause::Plan) => AgentEndDoc::Plan,
        AgentEnd::Sealed(EndCause::Command) => AgentEndDoc::Command,
        AgentEnd::Sealed(EndCause::NotStarted) => AgentEndDoc::NotStarted,
        AgentEnd::Sealed(EndCause::Orphaned) => AgentEndDoc::Orphaned,
        AgentEnd::Sealed(EndCause::Overdue) => AgentEndDoc::Overdue,
        AgentEnd::Sealed(EndCause::Crashed) => AgentEndDoc::Crashed,
        AgentEnd::Lost => AgentEndDoc::Lost,
        AgentEnd::Unfinished => AgentEndDoc::Unfinished,
    }
}
