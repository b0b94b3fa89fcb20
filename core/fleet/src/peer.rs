//! [`Peer`]: what the controller knows of one agent.

use std::collections::{BTreeMap, VecDeque};

use wavetank_pace::Partition;
use wavetank_units::Nanos;

use crate::clock_offset::ClockOffset;
use crate::constants::{
    BEATS_MISSED_MAX, REPEAT_EVERY, REPEAT_EVERY_MAX, REPEATS_QUICK, RESEND_MAX, UNANSWERED_MAX,
};
use crate::hello::{Capabilities, Hello};
use crate::message::{
    AgentId, AgentPayload, AgentState, Command, ControllerPayload, Done, EndCause, RefusalReason,
};
use crate::outcome::AgentEnd;
use crate::rendezvous::PeerRendezvous;

/// The controller's view of one agent: pending commands, heartbeats, intervals.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Peer {
    /// Its address; `None` if it has not reported since the controller was restarted.
    pub(crate) id: Option<AgentId>,
    pub(crate) name: String,
    pub(crate) instance: u64,
    pub(crate) capabilities: Capabilities,
    /// As configured for this agent.
    pub(crate) weight: Option<u64>,
    pub(crate) share: Partition,
    pub(crate) clock: ClockOffset,
    /// Commands without an answer, oldest first. Their numbers span at most [`UNANSWERED_MAX`].
    unanswered: VecDeque<(u64, Command)>,
    next_seq: u64,
    repeat_at: Option<Nanos>,
    /// How often unanswered commands were repeated since the last command or answer.
    repeats: u32,
    pub(crate) prepared: bool,
    /// It is known what the agent was doing when the controller was restarted.
    pub(crate) resumed: bool,
    state: AgentState,
    /// When it was heard last.
    pub(crate) heard_at: Nanos,
    /// Missed heartbeats in a row, and how many make it lost.
    missed: u32,
    pub(crate) missed_max: u32,
    pub(crate) lost: bool,
    /// Its share went to others: it must not send any more.
    pub(crate) fenced: bool,
    /// Its process was restarted without a spool.
    pub(crate) restarted: bool,
    /// Intervals 0 to `seen − 1` were noticed.
    pub(crate) seen: u64,
    /// Intervals that arrived before their predecessors, and whether they are stored; at most
    /// [`RESEND_MAX`].
    ahead: BTreeMap<u64, bool>,
    pub(crate) unstored: u64,
    done: Option<Done>,
    /// Digest of its intervals in the durable archive, if that has all of them.
    pub(crate) archived: Option<String>,
    /// Its spool is gone, or is kept because it differs from the archive.
    pub(crate) cleared: bool,
    pub(crate) refused: Vec<RefusalReason>,
    /// Its users that wait for those of other agents.
    pub(crate) rendezvous: PeerRendezvous,
}

/// The meaning of a report for the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReportEffect {
    /// Nothing to report.
    Nothing,
    /// The next intervals are sealed, and whether each is stored; perhaps none, if one before them
    /// is still missing.
    Sealed(Vec<(u64, bool)>),
    /// A command was refused.
    Refused(Command, RefusalReason),
    /// The agent's state is known again, and how many changes and new shares it has received.
    Resumed(AgentState, u64),
    /// The spool is kept, because it differs from the archive.
    Kept,
}

impl Peer {
    pub(crate) fn new(id: Option<AgentId>, hello: &Hello, clock: ClockOffset, now: Nanos) -> Self {
        Self {
            id,
            name: hello.name.clone(),
            instance: hello.instance,
            capabilities: hello.capabilities,
            weight: None,
            share: Partition::WHOLE,
            clock,
            unanswered: VecDeque::new(),
            next_seq: 1,
            repeat_at: None,
            repeats: 0,
            prepared: false,
            resumed: true,
            state: AgentState::Idle,
            heard_at: now,
            missed: 0,
            missed_max: BEATS_MISSED_MAX,
            lost: false,
            fenced: false,
            restarted: false,
            seen: 0,
            ahead: BTreeMap::new(),
            unstored: 0,
            done: None,
            archived: None,
            cleared: false,
            refused: Vec::new(),
            rendezvous: PeerRendezvous::default(),
        }
    }

    /// The state that the agent last reported.
    pub(crate) const fn state(&self) -> AgentState {
        self.state
    }

    /// Whether its end, all its intervals and all its answers are known. An open answer might still
    /// be a refusal.
    pub(crate) fn is_settled(&self) -> bool {
        self.unanswered.is_empty() && self.done.as_ref().is_some_and(|done| done.intervals <= self.seen)
    }

    /// The agent's end is known from before the controller was restarted.
    pub(crate) fn restore_done(&mut self, done: Done) {
        self.state = AgentState::Sealed;
        self.done = Some(done);
    }

    /// The agent's own report of its end.
    pub(crate) const fn done(&self) -> Option<&Done> {
        self.done.as_ref()
    }

    pub(crate) fn end(&self) -> AgentEnd {
        match &self.done {
            Some(done) if self.is_settled() && done.intervals == self.seen => AgentEnd::Sealed(done.cause),
            _ if self.lost || self.restarted => AgentEnd::Lost,
            _ => AgentEnd::Unfinished,
        }
    }

    /// How many changes and new shares it refused, also those of a former controller.
    pub(crate) fn adjustments_refused(&self) -> u64 {
        self.done.as_ref().map_or(0, |done| done.adjustments.refused)
    }

    /// Whether it carried out everything, and nothing of it is missing.
    pub(crate) fn is_complete(&self) -> bool {
        let ended = matches!(self.end(), AgentEnd::Sealed(EndCause::Plan | EndCause::Command));
        ended && self.refused.is_empty() && self.unstored == 0 && self.adjustments_refused() == 0
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
        self.repeats = 0;
        let first = now.after(REPEAT_EVERY);
        self.repeat_at = Some(self.repeat_at.map_or(first, |at| at.min(first)));
        ControllerPayload::Command { seq, command }
    }

    /// Whether this command waits for an answer.
    pub(crate) fn awaits(&self, command: &Command) -> bool {
        self.unanswered.iter().any(|(_, waiting)| waiting == command)
    }

    /// Another process speaks for the agent, or the controller is another one: no command to the
    /// former will be answered.
    pub(crate) fn forget_commands(&mut self) {
        self.unanswered.clear();
        self.repeat_at = None;
    }

    /// When [`Self::resend_unanswered`] is due.
    pub(crate) fn resend_at(&self) -> Option<Nanos> {
        self.repeat_at.filter(|_| !self.lost && self.id.is_some())
    }

    /// Sends all unanswered commands again.
    pub(crate) fn resend_unanswered(&mut self, now: Nanos) -> Vec<ControllerPayload> {
        self.repeats = self.repeats.saturating_add(1);
        let doublings = self.repeats.saturating_sub(REPEATS_QUICK).min(REPEAT_EVERY_MAX.0.ilog2());
        let wait = Nanos(REPEAT_EVERY.0.saturating_mul(1 << doublings)).min(REPEAT_EVERY_MAX);
        self.repeat_at = (!self.unanswered.is_empty()).then(|| now.after(wait));
        self.unanswered
            .iter()
            .map(|(seq, command)| ControllerPayload::Command { seq: *seq, command: command.clone() })
            .collect()
    }

    /// A beat's time has passed; whether the agent is lost from now on.
    pub(crate) fn on_missed_beat(&mut self) -> bool {
        self.missed += 1;
        let lost = self.missed > self.missed_max && !self.lost;
        self.lost |= lost;
        lost
    }

    /// A sign of life; whether it was thought lost.
    pub(crate) fn on_message(&mut self, now: Nanos) -> bool {
        (self.missed, self.heard_at) = (0, now);
        if !self.lost || self.restarted {
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
            AgentPayload::Resumed { seq, state, adjustments } if self.answered(seq).is_some() => {
                self.state = self.state.max(state);
                self.resumed = true;
                return ReportEffect::Resumed(state, adjustments.received);
            }
            AgentPayload::Refused { seq, reason } => {
                if let Some(command) = self.answered(seq) {
                    self.refused.push(reason.clone());
                    return ReportEffect::Refused(command, reason);
                }
            }
            AgentPayload::State { state } => self.state = self.state.max(state),
            AgentPayload::Sealed { seq } => return ReportEffect::Sealed(self.interval(seq, true)),
            AgentPayload::Unstored { seq } => return ReportEffect::Sealed(self.interval(seq, false)),
            AgentPayload::Done(done) => {
                self.state = AgentState::Sealed;
                // A crashed agent's spool may be longer than what its process reported.
                self.done = Some(done);
            }
            AgentPayload::Cleared => self.cleared = true,
            AgentPayload::Kept { .. } if !self.cleared => {
                self.cleared = true;
                return ReportEffect::Kept;
            }
            AgentPayload::Kept { .. }
            | AgentPayload::Resumed { .. }
            | AgentPayload::Hello(_)
            | AgentPayload::Waiting { .. }
            | AgentPayload::Clock { .. } => {}
        }
        ReportEffect::Nothing
    }

    /// The intervals that are next in order, now that this one is known.
    fn interval(&mut self, seq: u64, stored: bool) -> Vec<(u64, bool)> {
        let mut next = Vec::new();
        // One that is too far ahead will be repeated.
        if (self.seen..self.seen.saturating_add(RESEND_MAX)).contains(&seq) {
            self.ahead.insert(seq, stored);
            while let Some(stored) = self.ahead.remove(&self.seen) {
                next.push((self.seen, stored));
                self.unstored += u64::from(!stored);
                self.seen += 1;
            }
        }
        next
    }

    /// Take a command off, if it is still unanswered.
    fn answered(&mut self, seq: u64) -> Option<Command> {
        let place = self.unanswered.iter().position(|(number, _)| *number == seq)?;
        self.repeats = 0;
        self.unanswered.remove(place).map(|(_, command)| command)
    }
}
