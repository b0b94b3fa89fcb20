//! The end of a run: the last intervals arrive, the archive becomes durable, spools are deleted.

use wavetank_units::Nanos;

use super::{Controller, ControllerState};
use crate::action::{ControllerAction, ControllerNotice};
use crate::constants::SETTLE_MAX;
use crate::journal::JournalRecord;
use crate::message::{Command, ControllerPayload, EndCause};
use crate::outcome::{AgentOutcome, FleetStatus, Outcome, StartProblem};
use crate::peer::Peer;
use crate::run_setup::LossPolicy;

impl Controller {
    /// The host has completed the archive of [`ControllerAction::Archive`] and made it durable.
    /// `digests` are those of each agent's intervals in it, in the order of the outcome's agents.
    pub fn handle_archived(&mut self, digests: &[String], now: Nanos) {
        if self.state != ControllerState::Archiving {
            return;
        }
        self.state = ControllerState::Settling;
        self.deadline = Some(now.after(SETTLE_MAX));
        self.journal(JournalRecord::Archived);
        for (peer, digest) in self.peers.iter_mut().zip(digests) {
            peer.archived = peer.is_settled().then(|| digest.clone());
        }
        for index in 0..self.peers.len() {
            self.repeat_settled(index);
        }
        self.advance(now);
    }

    /// The host cannot complete the archive. Agents keep their spools, from which it can be
    /// completed later.
    pub fn handle_archive_failed(&mut self) {
        if self.state == ControllerState::Archiving {
            self.finish();
        }
    }

    /// Reports to an agent that its intervals are durable, until it has confirmed that.
    pub(super) fn repeat_settled(&mut self, index: usize) {
        let peer = &self.peers[index];
        if let Some(digest) = peer.archived.clone().filter(|_| !peer.cleared) {
            self.send(index, ControllerPayload::Settled { digest });
        }
    }

    /// Orders an early end.
    pub(super) fn end_early(&mut self, drain: bool, now: Nanos) {
        self.ending = Some(drain);
        self.journal(JournalRecord::Ending { drain });
        let command = if drain { Command::Drain } else { Command::Stop };
        self.command_all(&command, now);
    }

    /// The time limit of the current state has passed.
    pub(super) fn on_deadline(&mut self, now: Nanos) {
        match self.state {
            ControllerState::Gathering => self.on_gather_deadline(now),
            ControllerState::Preparing | ControllerState::Aligning => {
                for index in 0..self.peers.len() {
                    if !self.peers[index].prepared || !self.peers[index].clock.is_measured() {
                        self.add_refusal(index, StartProblem::NotPrepared);
                    }
                }
                self.stop(now);
            }
            ControllerState::Committed | ControllerState::Draining => self.stop(now),
            ControllerState::Stopping => self.collect(now),
            ControllerState::Settling => self.finish(),
            ControllerState::Archiving | ControllerState::Over => {}
        }
    }

    /// The last interval that can be waited for has arrived: the archive is completed.
    pub(super) fn collect_if_ended(&mut self, now: Nanos) {
        let is_awaited = |peer: &Peer| !peer.is_settled() && !self.is_gone(peer, now);
        // Mostly it is the agent of the last time.
        if self.outcome.is_some() || self.peers.get(self.unended).is_some_and(is_awaited) {
            return;
        }
        match self.peers.iter().position(is_awaited) {
            Some(index) => self.unended = index,
            None => self.collect(now),
        }
    }

    pub(super) fn collect(&mut self, now: Nanos) {
        self.seal_intervals(now);
        if self.setup.spools && self.committed.is_some() {
            let outcome = self.compute_outcome();
            self.outcome = Some(outcome.clone());
            self.state = ControllerState::Archiving;
            // The host takes the time it needs.
            self.deadline = None;
            self.actions.push_back(ControllerAction::Archive(outcome));
        } else {
            self.finish();
        }
    }

    pub(super) fn finish_if_cleared(&mut self) {
        if self.peers.iter().all(|peer| peer.cleared || peer.archived.is_none()) {
            self.finish();
        }
    }

    pub(super) fn finish(&mut self) {
        self.state = ControllerState::Over;
        let outcome = self.outcome.take().unwrap_or_else(|| self.compute_outcome());
        self.journal(JournalRecord::Over);
        self.notify(ControllerNotice::Over(outcome));
    }

    fn compute_outcome(&self) -> Outcome {
        let agent = |peer: &Peer| AgentOutcome {
            agent: peer.id,
            name: peer.name.clone(),
            share: peer.share,
            end: peer.end(),
            intervals: peer.seen,
            unstored: peer.unstored,
            refused: peer.refused.clone(),
            adjustments_refused: peer.adjustments_refused(),
        };
        Outcome {
            status: self.status(),
            started_at: self.started_at().filter(|_| self.has_started()),
            agents: self.peers.iter().map(agent).collect(),
            refusals: self.refusals.clone(),
            losses: self.losses.clone(),
            rebalanced: self.rebalanced.clone(),
            start_skew: self.start_skew(),
            start_uncertainty: self.uncertainty,
        }
    }

    /// Whether an agent may have sent load. A commitment that a controller did not send before it
    /// ended is none.
    fn has_started(&self) -> bool {
        let never = |peer: &Peer| peer.done().is_some_and(|done| done.cause == EndCause::NotStarted);
        self.committed.is_some() && !self.peers.iter().all(never)
    }

    fn status(&self) -> FleetStatus {
        if !self.has_started() {
            return FleetStatus::NotStarted;
        }
        if self.aborted {
            return FleetStatus::Aborted;
        }
        let weight = |peers: &mut dyn Iterator<Item = &Peer>| -> u128 {
            peers.map(|peer| u128::from(peer.weight.unwrap_or(1))).sum()
        };
        if self.peers.iter().all(Peer::is_complete) {
            return FleetStatus::Complete;
        }
        let missing = weight(&mut self.peers.iter().filter(|peer| !peer.is_complete()));
        let whole = weight(&mut self.peers.iter());
        match self.setup.on_loss {
            LossPolicy::Tolerate { percent } if missing * 100 <= whole * u128::from(percent) => {
                FleetStatus::Tolerated
            }
            _ => FleetStatus::Incomplete,
        }
    }

    /// Most that the first requests of two agents were apart.
    fn start_skew(&self) -> Option<Nanos> {
        let first = |peer: &Peer| {
            let first_sent = peer.done().and_then(|done| done.first_sent)?;
            Some(peer.clock.to_controller(first_sent))
        };
        let all: Option<Vec<Nanos>> = self.peers.iter().map(first).collect();
        let all = all?;
        Some(*all.iter().max()? - *all.iter().min()?)
    }
}
