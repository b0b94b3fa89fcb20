//! [`Agent`]: executes a controller's commands, and stops by itself when the controller is silent.

mod commands;
mod ending;
mod reports;

use std::collections::{BTreeSet, VecDeque};

use wavetank_units::Nanos;

use crate::action::AgentAction;
use crate::constants::{BEAT, BEATS_MISSED_MAX, ORPHAN_GRACE, UNANSWERED_MAX};
use crate::hello::{Capabilities, DenialReason, Identity};
use crate::message::{
    Adjustments, AgentPayload, AgentState, ControllerMessage, ControllerPayload, EndCause, RefusalReason,
    RunId,
};
use crate::rendezvous::WaitingUsers;

/// The settings of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSetup {
    /// How it introduces itself.
    pub identity: Identity,
    /// Controller and agent are threads of one process, which is suspended as a whole. Then an
    /// expired lease ends the load only after a beat in which the controller could speak. Without
    /// it, an agent that was suspended past its lease drains immediately.
    pub shares_process: bool,
    /// The host stores intervals in a spool.
    pub spools: bool,
}

impl AgentSetup {
    /// The only agent of a run inside one process, called `local`.
    pub fn local(version: impl Into<String>) -> Self {
        let (version, name) = (version.into(), "local".to_owned());
        let capabilities = Capabilities { cores: 1, ..Capabilities::default() };
        let identity = Identity { version, name, instance: 1, capabilities };
        Self { identity, shares_process: true, spools: false }
    }
}

/// The content of a spool that a restarted agent found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSpool {
    /// The run.
    pub run: RunId,
    /// The last epoch that the agent had accepted.
    pub epoch: u64,
    /// One more than the number of the last stored interval.
    pub intervals: u64,
    /// Numbers below it that are not stored.
    pub unstored: Vec<u64>,
    /// Digest of the stored intervals, in order.
    pub digest: String,
    /// The cause of the end, if the spool has it; otherwise [`EndCause::Crashed`].
    pub cause: EndCause,
    /// As in [`Agent::adjustments`], if the spool has them; otherwise none.
    pub adjustments: Adjustments,
}

/// The agent's side of a run. It only makes decisions; its host (the process around it) acts.
///
/// Inputs: [`Agent::handle_message`] and [`Agent::handle_connected`] from the link;
/// `handle_prepared`, `handle_first_sent`, `handle_sealed`, `handle_unstored`, `handle_draining`,
/// `handle_finished` from the host; [`Agent::handle_timeout`] at the instant returned by
/// [`Agent::poll_timeout`]. After any of them, call [`Agent::poll`] until it returns `None`.
///
/// An agent drains when its lease ends, [`crate::RunSetup::orphan_grace`] after the last message,
/// and stops [`crate::constants::ORPHAN_DRAIN_MAX`] later.
#[derive(Clone, Debug)]
pub struct Agent {
    setup: AgentSetup,
    state: AgentState,
    run: RunId,
    epoch: u64,
    /// Number of the last command carried out or refused.
    seq: u64,
    /// Answers to the last commands, for repeated ones.
    answers: VecDeque<(u64, AgentPayload)>,
    /// The `Offer` that the host is busy with.
    preparing: Option<Offer>,
    commitment: Option<Commitment>,
    /// Why the load ends, once it does.
    cause: EndCause,
    /// Since when nothing new is sent.
    load_ended: Option<Nanos>,
    /// A stop has been requested from the host.
    stopped: bool,
    /// When a drain without a controller turns into a stop, and the end cause for that case.
    stop_at: Option<(Nanos, EndCause)>,
    intervals: Intervals,
    first_sent: Option<Nanos>,
    digest: String,
    /// Changes and new shares received.
    adjustments: Adjustments,
    /// The users that wait for those of other agents, as last reported.
    waiting: Vec<WaitingUsers>,
    lease: Lease,
    /// The controller has said that nothing is needed of this agent any more.
    settled: bool,
    beat_at: Option<Nanos>,
    actions: VecDeque<AgentAction>,
}

#[derive(Clone, Debug)]
struct Offer {
    epoch: u64,
    seq: u64,
    plan_hash: String,
}

#[derive(Clone, Copy, Debug)]
struct Commitment {
    start_at: Nanos,
    load_from: Nanos,
    end_by: Option<Nanos>,
}

/// Sealed intervals, and what the controller knows of them.
#[derive(Clone, Debug, Default)]
struct Intervals {
    sealed: u64,
    /// Intervals without stored data.
    unstored: BTreeSet<u64>,
    /// Intervals sealed at the last lease. Reports of those still unseen at the next lease are
    /// lost.
    sealed_at_lease: u64,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    grace: Nanos,
    /// Of the controller's last message.
    heard_at: Nanos,
    until: Nanos,
    /// Heartbeats sent since the last lease extension. A process that was suspended receives
    /// messages from its controller before it trusts the clock again.
    beats: u32,
}

impl Lease {
    const NONE: Self = Self { grace: ORPHAN_GRACE, heard_at: Nanos(i64::MIN), until: Nanos::MAX, beats: 0 };
}

impl Agent {
    /// A free agent, which introduces itself from now on.
    pub fn new(setup: AgentSetup, now: Nanos) -> Self {
        Self {
            setup,
            state: AgentState::Idle,
            run: RunId::NONE,
            epoch: 0,
            seq: 0,
            answers: VecDeque::with_capacity(UNANSWERED_MAX as usize),
            preparing: None,
            commitment: None,
            cause: EndCause::Plan,
            load_ended: None,
            stopped: false,
            stop_at: None,
            intervals: Intervals::default(),
            first_sent: None,
            digest: String::new(),
            adjustments: Adjustments::default(),
            waiting: Vec::new(),
            lease: Lease::NONE,
            settled: false,
            beat_at: Some(now),
            actions: VecDeque::new(),
        }
    }

    /// An agent that was restarted and found the spool of an unsettled run. It has ended, and waits
    /// for the run's controller.
    pub fn recover(setup: AgentSetup, spool: FoundSpool, now: Nanos) -> Self {
        let FoundSpool { run, epoch, intervals, unstored, digest, cause, adjustments } = spool;
        let mut agent = Self::new(setup, now);
        (agent.run, agent.epoch, agent.digest) = (run, epoch, digest);
        let unstored = unstored.into_iter().collect();
        agent.intervals = Intervals { sealed: intervals, unstored, sealed_at_lease: intervals };
        (agent.cause, agent.adjustments) = (cause, adjustments);
        agent.state = AgentState::Sealed;
        agent
    }

    /// The current state.
    pub const fn state(&self) -> AgentState {
        self.state
    }

    /// The cause of the end, once the agent has ended. A host stores it with its spool.
    pub fn end_cause(&self) -> Option<EndCause> {
        (self.state == AgentState::Sealed).then_some(self.cause)
    }

    /// The changes and new shares received so far. A host stores them with its spool.
    pub const fn adjustments(&self) -> Adjustments {
        self.adjustments
    }

    /// The current run and epoch. A host stores them with its spool.
    pub const fn run(&self) -> (RunId, u64) {
        (self.run, self.epoch)
    }

    /// Whether all is done and confirmed, so that the process may end.
    pub const fn is_settled(&self) -> bool {
        self.settled
    }

    /// The next thing to do, until `None`.
    pub fn poll(&mut self) -> Option<AgentAction> {
        self.actions.pop_front()
    }

    /// When to call [`Agent::handle_timeout`] if nothing else happens.
    pub fn poll_timeout(&self) -> Option<Nanos> {
        let committed = self.commitment.filter(|_| self.state != AgentState::Sealed);
        let load_from = committed.filter(|_| self.state == AgentState::Committed).map(|c| c.load_from);
        let end_by = committed.filter(|_| self.stop_at.is_none() && !self.stopped).and_then(|c| c.end_by);
        let lease = Some(self.lease.until).filter(|_| self.is_strict() && self.may_be_orphaned());
        [self.beat_at, load_from, end_by, self.stop_at.map(|(at, _)| at), lease].into_iter().flatten().min()
    }

    /// The link to a controller was established, perhaps again.
    pub fn handle_connected(&mut self, now: Nanos) {
        if !self.settled {
            self.introduce();
            self.beat_at = Some(now.after(BEAT));
        }
    }

    /// A message from a controller.
    pub fn handle_message(&mut self, message: ControllerMessage, now: Nanos) {
        self.check_lease(now);
        let ControllerMessage { run, epoch, order } = message;
        let is_current = run == self.run && epoch == self.epoch;
        match order {
            ControllerPayload::Probe { id } => self.send(run, epoch, AgentPayload::Clock { id, at: now }),
            ControllerPayload::Denied { reason } => {
                if self.is_free() {
                    // Another controller may want it, unless it is at fault itself.
                    if matches!(reason, DenialReason::Version { .. } | DenialReason::DuplicateName) {
                        self.beat_at = None;
                    }
                    self.actions.push_back(AgentAction::Denied(reason));
                }
            }
            ControllerPayload::Command { seq, command } => match self.admit(run, epoch, &command) {
                Ok(()) => self.on_command(seq, command, now),
                Err(reason) => self.send(run, epoch, AgentPayload::Refused { seq, reason }),
            },
            ControllerPayload::Lease { seen } if is_current && self.seq > 0 => {
                self.extend_lease(now);
                self.resend(seen);
            }
            ControllerPayload::Settled { digest } if is_current && self.state == AgentState::Sealed => {
                self.settle(&digest, now);
            }
            // A lease of another epoch says nothing about this run.
            ControllerPayload::Lease { .. } | ControllerPayload::Settled { .. } => {}
        }
    }

    /// The host is ready and has a plan with this hash, or says line by line why it cannot be.
    pub fn handle_prepared(&mut self, result: Result<String, Vec<String>>, _now: Nanos) {
        let Some(Offer { epoch, seq, plan_hash }) = self.preparing.take() else { return };
        let answer = match result {
            Ok(found) if found == plan_hash => {
                self.enter(AgentState::Prepared);
                AgentPayload::Prepared { seq }
            }
            Ok(found) => AgentPayload::Refused { seq, reason: RefusalReason::PlanHash { found } },
            Err(lines) => AgentPayload::Refused { seq, reason: RefusalReason::Host(lines) },
        };
        // A new controller did not send this command; it learns the state from the heartbeat.
        if epoch == self.epoch {
            self.answer(seq, answer);
        }
    }

    /// The first request or connection of the load was begun at `at`.
    pub fn handle_first_sent(&mut self, at: Nanos) {
        self.first_sent.get_or_insert(at);
    }

    /// The host sealed an interval and stored it in its spool; numbers start at 0. Panics if `seq`
    /// is not the next one.
    pub fn handle_sealed(&mut self, seq: u64, _now: Nanos) {
        self.count_interval(seq);
        self.report(AgentPayload::Sealed { seq });
    }

    /// The host sealed an interval and could not store it. The load goes on. Panics if `seq` is not
    /// the next one.
    pub fn handle_unstored(&mut self, seq: u64, _now: Nanos) {
        self.count_interval(seq);
        self.intervals.unstored.insert(seq);
        self.report(AgentPayload::Unstored { seq });
    }

    /// The plan's last arrival has passed; open work continues.
    pub fn handle_draining(&mut self, now: Nanos) {
        // After a suspension the end may come before the timeout that marks the beginning.
        if matches!(self.state, AgentState::Committed | AgentState::Running) {
            self.load_ended.get_or_insert(now);
            self.enter(AgentState::Draining);
        }
    }

    /// The host has ended and sealed its last interval (reported before). `digest` is that of the
    /// stored intervals, in order; empty without a spool.
    pub fn handle_finished(&mut self, digest: impl Into<String>, now: Nanos) {
        if self.state != AgentState::Sealed {
            self.digest = digest.into();
            self.load_ended.get_or_insert(now);
            self.seal();
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Nanos) {
        self.check_lease(now);
        if let Some(commitment) = self.commitment {
            if self.state == AgentState::Committed && now >= commitment.load_from {
                self.enter(AgentState::Running);
            }
            if commitment.end_by.is_some_and(|end| now >= end) {
                self.give_up(EndCause::Overdue, now);
            }
        }
        if let Some((_, cause)) = self.stop_at.take_if(|(at, _)| now >= *at) {
            self.cause = cause;
            self.stop();
        }
        if self.beat_at.is_some_and(|at| now >= at) {
            self.beat(now);
        }
    }

    fn beat(&mut self, now: Nanos) {
        self.lease.beats += 1;
        let orphaned = now >= self.lease.until && self.lease.beats > 1;
        if orphaned {
            self.give_up(EndCause::Orphaned, now);
        }
        if self.state == AgentState::Sealed && orphaned && !self.setup.spools {
            // No controller is left to receive heartbeats.
            self.beat_at = None;
            return;
        }
        self.beat_at = Some(now.after(BEAT));
        // A controller that does not know this agent, or was restarted, waits for its greeting.
        let silence = now.since(self.lease.heard_at);
        if self.seq == 0 || silence > u64::from(BEATS_MISSED_MAX) * BEAT.0.unsigned_abs() {
            self.introduce();
        } else {
            self.report(AgentPayload::State { state: self.state });
            self.report_waiting();
        }
        if self.state == AgentState::Sealed && self.seq > 0 {
            self.report_done();
        }
    }

    fn count_interval(&mut self, seq: u64) {
        assert_eq!(seq, self.intervals.sealed, "intervals are sealed in order");
        self.intervals.sealed += 1;
    }

    fn settle(&mut self, digest: &str, now: Nanos) {
        self.extend_lease(now);
        // Without intervals there is nothing to compare, and nothing to lose.
        if digest != self.digest && self.intervals.sealed > 0 {
            let digest = self.digest.clone();
            return self.report(AgentPayload::Kept { digest });
        }
        if !std::mem::replace(&mut self.settled, true) && self.setup.spools {
            self.actions.push_back(AgentAction::DeleteSpool);
        }
        self.beat_at = None;
        self.report(AgentPayload::Cleared);
    }

    fn extend_lease(&mut self, now: Nanos) {
        let grace = self.lease.grace;
        self.lease = Lease { grace, heard_at: now, until: now.after(grace), beats: 0 };
        if self.cause != EndCause::Orphaned {
            self.stop_at.take_if(|(_, cause)| *cause == EndCause::Orphaned);
        }
        if self.state != AgentState::Sealed {
            self.beat_at.get_or_insert(now.after(BEAT));
        }
    }
}
