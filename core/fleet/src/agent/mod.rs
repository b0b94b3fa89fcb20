//! [`Agent`]: executes a controller's commands, and stops by itself when the controller is silent.

use std::collections::VecDeque;

use wavetank_plan::Nanos;

use crate::AgentAction;
use crate::constants::{
    BEAT, CHANGE_ARRIVAL_MIN, ORPHAN_DRAIN_MAX, ORPHAN_GRACE, RESEND_MAX, UNANSWERED_MAX,
};
use crate::message::{
    AgentMessage, AgentPayload, AgentState, Command, ControllerMessage, ControllerPayload, EndCause,
    RefusalReason,
};

/// The agent's side of a run. It only makes decisions; its host (the process around it) acts.
///
/// Inputs: [`Agent::handle_message`] from the link; `handle_prepared`, `handle_sealed`,
/// `handle_draining`, `handle_finished` from the host; [`Agent::handle_timeout`] at the instant
/// returned by [`Agent::poll_timeout`]. After any of them, call [`Agent::poll`] until it returns
/// `None`.
///
/// An agent drains [`ORPHAN_GRACE`] after the last message, and stops [`ORPHAN_DRAIN_MAX`] later.
#[derive(Clone, Debug)]
pub struct Agent {
    state: AgentState,
    epoch: u64,
    /// Number of the last command carried out or refused.
    seq: u64,
    /// Answers to the last commands, for repeated ones.
    answers: VecDeque<(u64, AgentPayload)>,
    /// Epoch and number of the `Prepare` that the host is busy with.
    preparing: Option<(u64, u64)>,
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
    lease: Lease,
    beat_at: Option<Nanos>,
    actions: VecDeque<AgentAction>,
}

#[derive(Clone, Copy, Debug)]
struct Commitment {
    start_at: Nanos,
    load_from: Nanos,
    end_by: Option<Nanos>,
}

/// Sealed intervals, and what the controller knows of them.
#[derive(Clone, Copy, Debug, Default)]
struct Intervals {
    sealed: u64,
    /// Intervals sealed at the last lease. Reports of those still unseen at the next lease are
    /// lost.
    sealed_at_lease: u64,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    until: Nanos,
    /// Heartbeats sent since the last lease extension. A process that was suspended receives
    /// messages from its controller before it trusts the clock again.
    beats: u32,
}

impl Default for Agent {
    fn default() -> Self {
        Self::new()
    }
}

impl Agent {
    /// An idle agent.
    pub fn new() -> Self {
        Self {
            state: AgentState::Idle,
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
            lease: Lease { until: Nanos::MAX, beats: 0 },
            beat_at: None,
            actions: VecDeque::new(),
        }
    }

    /// The current state.
    pub const fn state(&self) -> AgentState {
        self.state
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
        [self.beat_at, load_from, end_by, self.stop_at.map(|(at, _)| at)].into_iter().flatten().min()
    }

    /// A message from a controller.
    pub fn handle_message(&mut self, ControllerMessage { epoch, order }: ControllerMessage, now: Nanos) {
        match order {
            ControllerPayload::Command { seq, .. } if epoch < self.epoch => {
                let reason = RefusalReason::OlderEpoch { current: self.epoch };
                self.send(epoch, AgentPayload::Refused { seq, reason });
            }
            ControllerPayload::Command { seq, command } => {
                if epoch > self.epoch {
                    self.adopt(epoch);
                }
                if seq <= self.seq {
                    self.extend_lease(now);
                    if let Some((_, old)) = self.answers.iter().find(|(answered, _)| *answered == seq) {
                        self.report(old.clone());
                    }
                } else if seq == self.seq + 1 {
                    self.extend_lease(now);
                    self.seq = seq;
                    if let Some(answer) = self.obey(seq, command, now) {
                        self.answer(seq, answer);
                    }
                }
                // A gap closes when the controller repeats what is missing.
            }
            ControllerPayload::Lease { seen } if epoch == self.epoch && self.seq > 0 => {
                self.extend_lease(now);
                self.resend(seen);
            }
            ControllerPayload::Settled if epoch == self.epoch && self.state == AgentState::Sealed => {
                self.beat_at = None;
            }
            // A lease of another epoch says nothing about this run.
            ControllerPayload::Lease { .. } | ControllerPayload::Settled => {}
        }
    }

    /// The host is ready, or says in one line why it cannot be.
    pub fn handle_prepared(&mut self, result: Result<(), String>, _now: Nanos) {
        let Some((epoch, seq)) = self.preparing.take() else { return };
        let answer = match result {
            Ok(()) => {
                self.enter(AgentState::Prepared);
                AgentPayload::Prepared { seq }
            }
            Err(line) => AgentPayload::Refused { seq, reason: RefusalReason::Host(line) },
        };
        // A new controller did not send this command; it learns the state from the heartbeat.
        if epoch == self.epoch {
            self.answer(seq, answer);
        }
    }

    /// The host sealed an interval and stored it; numbers start at 0. Panics if `seq` is not the
    /// next one.
    pub fn handle_sealed(&mut self, seq: u64, _now: Nanos) {
        assert_eq!(seq, self.intervals.sealed, "intervals are sealed in order");
        self.intervals.sealed += 1;
        self.report(AgentPayload::Sealed { seq });
    }

    /// The plan's last arrival has passed; open work continues.
    pub fn handle_draining(&mut self, now: Nanos) {
        // After a suspension the end may come before the timeout that marks the beginning.
        if matches!(self.state, AgentState::Committed | AgentState::Running) {
            self.load_ended.get_or_insert(now);
            self.enter(AgentState::Draining);
        }
    }

    /// The host has ended and sealed its last interval (reported before).
    pub fn handle_finished(&mut self, now: Nanos) {
        if self.state != AgentState::Sealed {
            self.load_ended.get_or_insert(now);
            self.seal();
        }
    }

    /// Time has passed.
    pub fn handle_timeout(&mut self, now: Nanos) {
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
        if self.state == AgentState::Sealed && orphaned {
            // No controller is left to receive heartbeats.
            self.beat_at = None;
            return;
        }
        self.beat_at = Some(now.after(BEAT));
        self.report(AgentPayload::State { state: self.state });
        if self.state == AgentState::Sealed {
            self.report_done();
        }
    }

    /// Carries out a command. Returns its answer, unless the host must report first.
    fn obey(&mut self, seq: u64, command: Command, now: Nanos) -> Option<AgentPayload> {
        let refused = |reason| Some(AgentPayload::Refused { seq, reason });
        match (command, self.state) {
            (Command::Prepare { plan_hash, share }, AgentState::Idle) if self.preparing.is_none() => {
                self.preparing = Some((self.epoch, seq));
                self.actions.push_back(AgentAction::Prepare { plan_hash, share });
                return None;
            }
            (Command::Commit { start_at, load_from, end_by }, AgentState::Prepared) => {
                if now > load_from {
                    return refused(RefusalReason::TooLate);
                }
                self.commitment = Some(Commitment { start_at, load_from, end_by });
                self.actions.push_back(AgentAction::StartAt(start_at));
                self.enter(AgentState::Committed);
            }
            (Command::Change { at, change }, AgentState::Committed | AgentState::Running) => {
                let start_at = self.commitment.expect("a committed agent has a commitment").start_at;
                if at < (now - start_at).after(CHANGE_ARRIVAL_MIN) {
                    return refused(RefusalReason::TooLate);
                }
                self.actions.push_back(AgentAction::Change { at, change });
            }
            // There is nothing left to do.
            (Command::Drain, AgentState::Draining | AgentState::Sealed)
            | (Command::Stop, AgentState::Sealed) => {}
            (Command::Change { at, .. }, AgentState::Draining | AgentState::Sealed) if self.ended_by(at) => {}
            (Command::Prepare { .. } | Command::Commit { .. } | Command::Change { .. }, state) => {
                return refused(RefusalReason::WrongState(state));
            }
            (command @ (Command::Drain | Command::Stop), state) => {
                // An earlier cause of the end is kept.
                if self.cause == EndCause::Plan {
                    self.cause = EndCause::Command;
                }
                // Before the load there is nothing to drain.
                if command == Command::Drain && matches!(state, AgentState::Committed | AgentState::Running) {
                    self.drain(now);
                } else {
                    self.stop();
                }
            }
        }
        Some(AgentPayload::Accepted { seq })
    }

    /// Whether the load had ended when the run's clock showed `at`: then no change is due any more.
    fn ended_by(&self, at: Nanos) -> bool {
        let ended = self.load_ended.zip(self.commitment);
        ended.is_some_and(|(ended, commitment)| commitment.start_at.after(at) >= ended)
    }

    /// Ends the run without a command: drains under load, stops before it.
    fn give_up(&mut self, cause: EndCause, now: Nanos) {
        if self.stop_at.is_some() || self.stopped || self.state == AgentState::Sealed {
            return;
        }
        match self.state {
            AgentState::Running => {
                self.cause = cause;
                self.drain(now);
            }
            // The end is in progress and may complete normally; the cause changes only if it must
            // be cut.
            AgentState::Draining => {}
            AgentState::Idle | AgentState::Prepared | AgentState::Committed | AgentState::Sealed => {
                self.cause = cause;
                return self.stop();
            }
        }
        self.stop_at = Some((now.after(ORPHAN_DRAIN_MAX), cause));
    }

    fn drain(&mut self, now: Nanos) {
        self.load_ended.get_or_insert(now);
        self.actions.push_back(AgentAction::Drain);
        self.enter(AgentState::Draining);
    }

    fn stop(&mut self) {
        if self.state == AgentState::Idle && self.preparing.is_none() {
            // The host has no open work.
            self.seal();
        } else if !self.stopped && self.state != AgentState::Sealed {
            self.stopped = true;
            self.abandon_preparing();
            self.actions.push_back(AgentAction::Stop);
            self.enter(AgentState::Draining);
        }
    }

    /// Stops waiting for the host to be ready. The command that asked for it is still answered,
    /// because the controller waits for the answer.
    fn abandon_preparing(&mut self) {
        if let Some((epoch, seq)) = self.preparing.take()
            && epoch == self.epoch
        {
            self.answer(seq, AgentPayload::Accepted { seq });
        }
    }

    fn seal(&mut self) {
        self.abandon_preparing();
        self.stop_at = None;
        self.enter(AgentState::Sealed);
        self.report_done();
    }

    fn enter(&mut self, state: AgentState) {
        if self.state != state {
            debug_assert!(self.state < state, "states only advance");
            self.state = state;
            self.report(AgentPayload::State { state });
        }
    }

    /// Accepts a newer controller. A current run continues under it; a finished run is forgotten.
    fn adopt(&mut self, epoch: u64) {
        if self.state == AgentState::Sealed || (self.state == AgentState::Idle && self.preparing.is_none()) {
            let actions = std::mem::take(&mut self.actions);
            *self = Self { actions, ..Self::new() };
        }
        self.epoch = epoch;
        self.seq = 0;
        self.answers.clear();
    }

    fn extend_lease(&mut self, now: Nanos) {
        self.lease = Lease { until: now.after(ORPHAN_GRACE), beats: 0 };
        if self.cause != EndCause::Orphaned {
            self.stop_at.take_if(|(_, cause)| *cause == EndCause::Orphaned);
        }
        if self.state != AgentState::Sealed {
            self.beat_at.get_or_insert(now.after(BEAT));
        }
    }

    /// Repeats reports of intervals that were sealed before the last lease and are still unseen.
    fn resend(&mut self, seen: u64) {
        let Intervals { sealed, sealed_at_lease } = self.intervals;
        for seq in seen..sealed_at_lease.min(seen.saturating_add(RESEND_MAX)) {
            self.report(AgentPayload::Sealed { seq });
        }
        self.intervals.sealed_at_lease = sealed;
    }

    fn report_done(&mut self) {
        self.report(AgentPayload::Done { intervals: self.intervals.sealed, cause: self.cause });
    }

    /// Sends and remembers the answer to a command.
    fn answer(&mut self, seq: u64, report: AgentPayload) {
        if self.answers.len() == UNANSWERED_MAX as usize {
            self.answers.pop_front();
        }
        self.answers.push_back((seq, report.clone()));
        self.report(report);
    }

    fn report(&mut self, report: AgentPayload) {
        self.send(self.epoch, report);
    }

    fn send(&mut self, epoch: u64, report: AgentPayload) {
        self.actions.push_back(AgentAction::Send(AgentMessage { epoch, report }));
    }
}
