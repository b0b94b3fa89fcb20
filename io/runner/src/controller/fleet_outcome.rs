//! What the outcome of a fleet means for its run.

use wavetank_diagnose::{FleetGaps, Throttling};
use wavetank_fleet::{AgentOutcome, FleetStatus, Loss, Outcome};
use wavetank_record::{AgentDoc, AgentLossDoc, FleetDoc};
use wavetank_report::lacking_agents;
use wavetank_units::{Nanos, UserError, phrase, sentence};

use super::RunController;
use super::agents::Agents;
use super::fleet_result::{FleetResult, agent_doc, micros, status_doc};
use crate::fleet_refusal::start_errors;

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
            return UserError::combine(start_errors(outcome)).map_or(Ok(None), Err);
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
            rebalanced: outcome.rebalanced.iter().filter_map(|phase| self.phase_name(*phase)).collect(),
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
        let counted = self.log.archive.as_mut().map(|archive| {
            archive.sync_now().map_err(|problem| problem.to_string())?;
            let opened = wavetank_store::open(archive.dir()).map_err(|error| error.message)?;
            opened.ledger(&self.plan).map_err(|error| error.message)
        });
        match counted {
            Some(Ok((ledger, _))) => self.log.ledger = ledger,
            Some(Err(why)) => self.log.lost.push(sentence!("late intervals could not be counted: {why}")),
            None => {
                self.log.lost.push(phrase!(
                    "intervals came too late to be judged with the others, and there is no archive"
                ));
            }
        }
    }

    fn phase_name(&self, index: u16) -> Option<String> {
        self.plan.phases.get(usize::from(index)).map(|phase| phase.name.clone())
    }

    fn loss_doc(&self, loss: &Loss) -> AgentLossDoc {
        AgentLossDoc {
            at_ns: loss.at.0,
            phase: loss.phase.and_then(|index| self.phase_name(index)),
            last_interval: loss.last_interval,
        }
    }
}
