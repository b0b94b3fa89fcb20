//! [`Peer`]: what the controller knows of one agent.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use wavetank_plan::Nanos;

use crate::constants::{BEATS_MISSED_MAX, REPEAT_EVERY, RESEND_MAX, UNANSWERED_MAX};
use crate::{AgentEnd, AgentPayload, AgentState, Command, ControllerPayload, EndCause, RefusalReason};

/// The controller's view of one agent: pending commands, heartbeats, intervals.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Commands without an answer, oldest first. Their numbers span at most [`UNANSWERED_MAX`].
    unanswered: VecDeque<(u64, Command)>,
    next_seq: u64,
    repeat_at: Option<Nanos>,
    pub(crate) prepared: bool,
    state: AgentState,
    /// Missed heartbeats in a row.
    missed: u32,
    pub(crate) lost: bool,
    /// Intervals 0 to `seen − 1` were noticed.
    pub(crate) seen: u64,
    /// Intervals that arrived before their predecessors; at most [`RESEND_MAX`].
    ahead: BTreeSet<u64>,
    done: Option<(u64, EndCause)>,
    pub(crate) refused: Vec<RefusalReason>,
}

/// The meaning of a report for the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportEffect {
    /// Nothing to report.
    Nothing,
    /// The next intervals are sealed; perhaps none, if one before them is still missing.
    Sealed(Range<u64>),
    /// A command was refused.
    Refused(Command, RefusalReason),
}

impl Peer {
    pub(crate) fn new() -> Self {
        Self {
            unanswered: VecDeque::new(),
            next_seq: 1,
            repeat_at: None,
            prepared: false,
            state: AgentState::Idle,
            missed: 0,
            lost: false,
            seen: 0,
            ahead: BTreeSet::new(),
            done: None,
            refused: Vec::new(),
        }
    }

    /// The state that the agent last reported.
    pub(crate) const fn state(&self) -> AgentState {
        self.state
    }

    /// Whether its end, all its intervals and all its answers are known. An open answer might still
    /// be a refusal.
    pub(crate) fn is_settled(&self) -> bool {
        self.unanswered.is_empty() && self.done.is_some_and(|(intervals, _)| intervals <= self.seen)
    }

    pub(crate) fn end(&self) -> AgentEnd {
        match self.done {
            Some((intervals, cause)) if self.is_settled() && intervals == self.seen => {
                AgentEnd::Sealed(cause)
            }
            _ if self.lost => AgentEnd::Lost,
            _ => AgentEnd::Unfinished,
        }
    }

    /// Whether another command may be given; drain and stop always find room.
    pub(crate) fn can_queue_command(&self) -> bool {
        let oldest = self.unanswered.front().map_or(self.next_seq, |(seq, _)| *seq);
        self.next_seq - oldest + 2 < UNANSWERED_MAX
    }

    /// Give a command: what to send now.
    pub(crate) fn command(&mut self, command: Command, now: Nanos) -> ControllerPayload {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.unanswered.push_back((seq, command.clone()));
        self.repeat_at.get_or_insert(now.after(REPEAT_EVERY));
        ControllerPayload::Command { seq, command }
    }

    /// When [`Self::resend_unanswered`] is due.
    pub(crate) fn resend_at(&self) -> Option<Nanos> {
        self.repeat_at.filter(|_| !self.lost)
    }

    /// Sends all unanswered commands again.
    pub(crate) fn resend_unanswered(&mut self, now: Nanos) -> Vec<ControllerPayload> {
        self.repeat_at = (!self.unanswered.is_empty()).then(|| now.after(REPEAT_EVERY));
        self.unanswered
            .iter()
            .map(|(seq, command)| ControllerPayload::Command { seq: *seq, command: command.clone() })
            .collect()
    }

    /// A beat's time has passed; whether the agent is lost from now on.
    pub(crate) fn on_missed_beat(&mut self) -> bool {
        self.missed += 1;
        let lost = self.missed > BEATS_MISSED_MAX && !self.lost;
        self.lost |= lost;
        lost
    }

    /// A sign of life; whether it was thought lost.
    pub(crate) fn on_message(&mut self, now: Nanos) -> bool {
        self.missed = 0;
        if !self.lost {
            return false;
        }
        self.lost = false;
        // Commands that stayed unanswered while it was away are due again.
        self.repeat_at = (!self.unanswered.is_empty()).then_some(now);
        true
    }

    pub(crate) fn handle_report(&mut self, report: AgentPayload) -> ReportEffect {
        match report {
            AgentPayload::Accepted { seq } => {
                self.answered(seq);
            }
            AgentPayload::Prepared { seq } => self.prepared |= self.answered(seq).is_some(),
            AgentPayload::Refused { seq, reason } => {
                if let Some(command) = self.answered(seq) {
                    self.refused.push(reason.clone());
                    return ReportEffect::Refused(command, reason);
                }
            }
            AgentPayload::State { state } => self.state = self.state.max(state),
            // One that is too far ahead will be repeated.
            AgentPayload::Sealed { seq }
                if (self.seen..self.seen.saturating_add(RESEND_MAX)).contains(&seq) =>
            {
                let first = self.seen;
                self.ahead.insert(seq);
                while self.ahead.remove(&self.seen) {
                    self.seen += 1;
                }
                return ReportEffect::Sealed(first..self.seen);
            }
            AgentPayload::Sealed { .. } => {}
            AgentPayload::Done { intervals, cause } => {
                self.state = AgentState::Sealed;
                self.done = Some((intervals, cause));
            }
        }
        ReportEffect::Nothing
    }

    /// Take a command off, if it is still unanswered.
    fn answered(&mut self, seq: u64) -> Option<Command> {
        let place = self.unanswered.iter().position(|(number, _)| *number == seq)?;
        self.unanswered.remove(place).map(|(_, command)| command)
    }
}
