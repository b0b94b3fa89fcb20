//! [`Controller`]: owns a run.

use std::collections::VecDeque;

use wavetank_pace::Partition;
use wavetank_plan::Nanos;

use crate::constants::{BEAT, CHANGE_AHEAD_MIN, PREPARE_MAX, STOP_MAX};
use crate::peer::{Peer, ReportEffect};
use crate::{
    AgentId, AgentMessage, AgentOutcome, AgentState, Change, Command, ControllerAction, ControllerMessage,
    ControllerNotice, ControllerPayload, Outcome, RefusalReason,
};

/// The controller's settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSetup {
    /// Higher than that of every earlier controller of these agents; positive.
    pub epoch: u64,
    /// SHA-256 of the canonical plan, in hexadecimal.
    pub plan_hash: String,
    /// Each agent's share: a partition of the whole; agent `k` gets `shares[k]`.
    pub shares: Vec<Partition>,
    /// Time limit for preparing; opening many connections takes time.
    pub prepare_max: Nanos,
    /// From the commitment to the first message sent: time for the command to reach every agent.
    pub margin: Nanos,
    /// From the first data sent (connections, warm-up) to the zero of the run's clock.
    pub lead_in: Nanos,
    /// Hard end on the run's clock, if the plan has one: its last arrival plus the drain, with some
    /// slack.
    pub end_by: Option<Nanos>,
}

impl RunSetup {
    /// One agent with the whole load, no lead-in, no hard end, 10 ms of margin (a link inside the
    /// process).
    pub fn new(epoch: u64, plan_hash: impl Into<String>) -> Self {
        Self {
            epoch,
            plan_hash: plan_hash.into(),
            shares: vec![Partition::WHOLE],
            prepare_max: PREPARE_MAX,
            margin: Nanos::from_millis(10),
            lead_in: Nanos::ZERO,
            end_by: None,
        }
    }
}

/// Why a change was not ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRefused {
    /// Its instant is less than a second ahead.
    TooLate,
    /// The run is not committed yet, or ends already.
    NotRunning,
    /// Too many commands wait for an answer.
    Busy,
}

/// The controller's side of a run. It only makes decisions; its host acts.
///
/// Inputs: [`Controller::handle_message`], [`Controller::handle_timeout`], and the user's
/// [`Controller::change`], [`Controller::drain`], [`Controller::stop`]. After any of them, call
/// [`Controller::poll`] until it returns `None`. The run starts with construction and ends with
/// [`ControllerNotice::Over`], whatever agents and links do. The controller does not wait for a
/// silent agent. It gives up an agent that does not end after its hard end or a stop.
///
/// Nothing starts before every agent is prepared. If an agent refuses or is lost before that, all
/// are stopped. If one is lost under load, the others continue and the outcome is incomplete.
#[derive(Clone, Debug)]
pub struct Controller {
    setup: RunSetup,
    peers: Vec<Peer>,
    course: ControllerState,
    started_at: Option<Nanos>,
    beat_at: Nanos,
    /// Time limit of the current state.
    deadline: Option<Nanos>,
    actions: VecDeque<ControllerAction>,
}

/// The course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ControllerState {
    Preparing,
    Committed,
    Draining,
    Stopping,
    Over,
}

impl Controller {
    /// Starts a run: every agent receives the command to prepare.
    ///
    /// # Panics
    /// If there is no agent, or the epoch is 0.
    pub fn new(setup: RunSetup, now: Nanos) -> Self {
        let prepare_max = setup.prepare_max;
        assert!(!setup.shares.is_empty() && setup.epoch > 0, "a run has an agent and an epoch");
        let mut controller = Self {
            peers: setup.shares.iter().map(|_| Peer::new()).collect(),
            setup,
            course: ControllerState::Preparing,
            started_at: None,
            beat_at: now.after(BEAT),
            deadline: Some(now.after(prepare_max)),
            actions: VecDeque::new(),
        };
        for index in 0..controller.peers.len() {
            let (plan_hash, share) = (controller.setup.plan_hash.clone(), controller.setup.shares[index]);
            controller.command(index, Command::Prepare { plan_hash, share }, now);
        }
        controller
    }

    /// Zero of the run's clock, once the run is committed.
    pub const fn started_at(&self) -> Option<Nanos> {
        self.started_at
    }

    /// The state of an agent, if known.
    pub fn state(&self, agent: AgentId) -> Option<AgentState> {
        self.peers.get(agent.0 as usize).map(Peer::state)
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<ControllerAction> {
        self.actions.pop_front()
    }

    /// When to call [`Controller::handle_timeout`] if nothing else happens; `None` when the run is
    /// over.
    pub fn poll_timeout(&self) -> Option<Nanos> {
        let repeat = self.peers.iter().filter_map(Peer::resend_at).min();
        let all = [Some(self.beat_at), self.deadline, repeat];
        all.into_iter().flatten().min().filter(|_| self.course != ControllerState::Over)
    }

    /// Changes the load from `at` on (on the run's clock, at least [`CHANGE_AHEAD_MIN`] ahead).
    pub fn change(&mut self, at: Nanos, change: Change, now: Nanos) -> Result<(), ChangeRefused> {
        let start_at = self.started_at.filter(|_| self.course == ControllerState::Committed);
        let start_at = start_at.ok_or(ChangeRefused::NotRunning)?;
        if self.peers.iter().all(|peer| peer.state() >= AgentState::Draining) {
            return Err(ChangeRefused::NotRunning);
        }
        if at < (now - start_at).after(CHANGE_AHEAD_MIN) {
            return Err(ChangeRefused::TooLate);
        }
        if !self.peers.iter().all(|peer| peer.can_queue_command() || peer.lost) {
            return Err(ChangeRefused::Busy);
        }
        for index in 0..self.peers.len() {
            if !self.peers[index].can_queue_command() {
                // The agent has been away for too long, and its load is out of step with the run.
                self.peers[index].refused.push(RefusalReason::TooLate);
            } else if !self.peers[index].is_settled() {
                self.command(index, Command::Change { at, change }, now);
            }
        }
        Ok(())
    }

    /// Ends the run early: no new work starts, and open work continues for at most `at_most`.
    pub fn drain(&mut self, at_most: Nanos, now: Nanos) {
        match self.course {
            ControllerState::Preparing => self.stop(now),
            ControllerState::Committed => {
                self.course = ControllerState::Draining;
                let end = now.after(at_most);
                self.deadline = Some(self.deadline.map_or(end, |deadline| deadline.min(end)));
                self.command_all(&Command::Drain, now);
            }
            ControllerState::Draining | ControllerState::Stopping | ControllerState::Over => {}
        }
    }

    /// Ends the run immediately.
    pub fn stop(&mut self, now: Nanos) {
        if !matches!(self.course, ControllerState::Stopping | ControllerState::Over) {
            self.course = ControllerState::Stopping;
            self.deadline = Some(now.after(STOP_MAX));
            self.command_all(&Command::Stop, now);
        }
    }

    /// A message from an agent.
    pub fn handle_message(&mut self, from: AgentId, message: AgentMessage, now: Nanos) {
        let index = from.0 as usize;
        let expected = message.epoch == self.setup.epoch && self.course != ControllerState::Over;
        let Some(peer) = self.peers.get_mut(index).filter(|_| expected) else { return };
        let settled = peer.is_settled();
        if peer.on_message(now) && !settled {
            self.notify(ControllerNotice::Back(from));
        }
        match self.peers[index].handle_report(message.report) {
            ReportEffect::Nothing => {}
            ReportEffect::Sealed(seqs) => {
                seqs.for_each(|seq| self.notify(ControllerNotice::Sealed { agent: from, seq }));
            }
            ReportEffect::Refused(command, reason) => {
                self.notify(ControllerNotice::Refused { agent: from, reason });
                if matches!(command, Command::Prepare { .. } | Command::Commit { .. }) {
                    self.go_without(index, now);
                }
            }
        }
        if self.peers[index].is_settled() {
            self.send(index, ControllerPayload::Settled);
        }
        self.advance(now);
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Nanos) {
        if self.course == ControllerState::Over {
            return;
        }
        for index in 0..self.peers.len() {
            if self.peers[index].resend_at().is_some_and(|at| now >= at) {
                for order in self.peers[index].resend_unanswered(now) {
                    self.send(index, order);
                }
            }
        }
        if now >= self.beat_at {
            self.beat(now);
        }
        if self.deadline.is_some_and(|at| now >= at) {
            match self.course {
                ControllerState::Stopping => return self.finish(),
                ControllerState::Preparing | ControllerState::Committed | ControllerState::Draining => {
                    self.stop(now);
                }
                ControllerState::Over => {}
            }
        }
        self.advance(now);
    }

    fn beat(&mut self, now: Nanos) {
        // After a suspension one beat is missed, not all that the clock says: agents speak first.
        self.beat_at = now.after(BEAT);
        for index in 0..self.peers.len() {
            if self.peers[index].is_settled() {
                continue;
            }
            if self.peers[index].on_missed_beat() {
                self.notify(ControllerNotice::Lost(AgentId(index as u32)));
                if self.course == ControllerState::Preparing {
                    self.stop(now);
                }
            }
            let seen = self.peers[index].seen;
            self.send(index, ControllerPayload::Lease { seen });
        }
    }

    /// Commit when all are prepared, finish when all have ended.
    fn advance(&mut self, now: Nanos) {
        if self.course == ControllerState::Preparing
            && self.peers.iter().all(|peer| peer.prepared && !peer.lost)
        {
            let load_from = now.after(self.setup.margin);
            let start_at = load_from.after(self.setup.lead_in);
            let end_by = self.setup.end_by.map(|end| start_at.after(end));
            self.course = ControllerState::Committed;
            self.started_at = Some(start_at);
            // Agents end by themselves then. An agent that has not ended some time later receives a
            // stop.
            self.deadline = end_by.map(|end| end.after(STOP_MAX));
            self.notify(ControllerNotice::Committed(start_at));
            self.command_all(&Command::Commit { start_at, load_from, end_by }, now);
        }
        if self.course != ControllerState::Over
            && self.peers.iter().all(|peer| peer.is_settled() || peer.lost)
        {
            self.finish();
        }
    }

    /// Removes an agent from the run. Before the load every agent is required; later the others
    /// continue.
    fn go_without(&mut self, index: usize, now: Nanos) {
        if self.started_at.is_some_and(|start_at| now >= start_at - self.setup.lead_in) {
            if self.course != ControllerState::Stopping {
                self.command(index, Command::Stop, now);
            }
        } else {
            self.stop(now);
        }
    }

    fn finish(&mut self) {
        self.course = ControllerState::Over;
        let agents = self.peers.iter().enumerate().map(|(index, peer)| AgentOutcome {
            agent: AgentId(index as u32),
            end: peer.end(),
            intervals: peer.seen,
            refused: peer.refused.clone(),
        });
        let outcome = Outcome { started_at: self.started_at, agents: agents.collect() };
        self.notify(ControllerNotice::Over(outcome));
    }

    fn command_all(&mut self, command: &Command, now: Nanos) {
        for index in 0..self.peers.len() {
            if !self.peers[index].is_settled() {
                self.command(index, command.clone(), now);
            }
        }
    }

    fn command(&mut self, index: usize, command: Command, now: Nanos) {
        let order = self.peers[index].command(command, now);
        self.send(index, order);
    }

    fn send(&mut self, index: usize, order: ControllerPayload) {
        let message = ControllerMessage { epoch: self.setup.epoch, order };
        self.actions.push_back(ControllerAction::Send { to: AgentId(index as u32), message });
    }

    fn notify(&mut self, notice: ControllerNotice) {
        self.actions.push_back(ControllerAction::Notify(notice));
    }
}
