//! [`Peer`]: what the controller knows of one agent.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use wavetank_plan::Nanos;

use crate::constants::{BEATS_MISSED_MAX, REPEAT_EVERY, RESEND_MAX, UNANSWERED_MAX};
use crate::{AgentEnd, Command, EndCause, Order, Reason, Report, State};

/// One agent as the controller sees it: commands under way, beats, intervals.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// Commands without an answer, oldest first. Their numbers span at most [`UNANSWERED_MAX`].
    unanswered: VecDeque<(u64, Command)>,
    next_seq: u64,
    repeat_at: Option<Nanos>,
    pub(crate) prepared: bool,
    state: State,
    /// Beats in a row that did not come.
    missed: u32,
    pub(crate) lost: bool,
    /// Intervals 0 to `seen − 1` were noticed.
    pub(crate) seen: u64,
    /// Intervals that arrived before their predecessors; at most [`RESEND_MAX`].
    ahead: BTreeSet<u64>,
    done: Option<(u64, EndCause)>,
    pub(crate) refused: Vec<Reason>,
}

/// What a report means to the controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Nothing worth telling.
    Nothing,
    /// The next intervals are sealed; perhaps none, if one before them is still missing.
    Sealed(Range<u64>),
    /// A command was refused.
    Refused(Command, Reason),
}

impl Peer {
    pub(crate) fn new() -> Self {
        Self {
            unanswered: VecDeque::new(),
            next_seq: 1,
            repeat_at: None,
            prepared: false,
            state: State::Idle,
            missed: 0,
            lost: false,
            seen: 0,
            ahead: BTreeSet::new(),
            done: None,
            refused: Vec::new(),
        }
    }

    /// Where it stands, as it last said.
    pub(crate) const fn state(&self) -> State {
        self.state
    }

    /// Whether its end, all its intervals and all its answers are known: one might be a refusal.
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
    pub(crate) fn has_room(&self) -> bool {
        let oldest = self.unanswered.front().map_or(self.next_seq, |(seq, _)| *seq);
        self.next_seq - oldest + 2 < UNANSWERED_MAX
    }

    /// Give a command: what to send now.
    pub(crate) fn command(&mut self, command: Command, now: Nanos) -> Order {
        let seq = self.next_seq;
        self.next_seq += 1;
        self.unanswered.push_back((seq, command.clone()));
        self.repeat_at.get_or_insert(now.after(REPEAT_EVERY));
        Order::Command { seq, command }
    }

    /// When [`Self::repeat`] is due.
    pub(crate) fn repeat_at(&self) -> Option<Nanos> {
        self.repeat_at.filter(|_| !self.lost)
    }

    /// All commands still unanswered, again.
    pub(crate) fn repeat(&mut self, now: Nanos) -> Vec<Order> {
        self.repeat_at = (!self.unanswered.is_empty()).then(|| now.after(REPEAT_EVERY));
        self.unanswered
            .iter()
            .map(|(seq, command)| Order::Command { seq: *seq, command: command.clone() })
            .collect()
    }

    /// A beat's time has passed; whether the agent is lost from now on.
    pub(crate) fn miss(&mut self) -> bool {
        self.missed += 1;
        let lost = self.missed > BEATS_MISSED_MAX && !self.lost;
        self.lost |= lost;
        lost
    }

    /// A sign of life; whether it was thought lost.
    pub(crate) fn hear(&mut self, now: Nanos) -> bool {
        self.missed = 0;
        if !self.lost {
            return false;
        }
        self.lost = false;
        // What went unanswered while it was away is due again.
        self.repeat_at = (!self.unanswered.is_empty()).then_some(now);
        true
    }

    pub(crate) fn handle_report(&mut self, report: Report) -> News {
        match report {
            Report::Accepted { seq } => {
                self.answered(seq);
            }
            Report::Prepared { seq } => self.prepared |= self.answered(seq).is_some(),
            Report::Refused { seq, reason } => {
                if let Some(command) = self.answered(seq) {
                    self.refused.push(reason.clone());
                    return News::Refused(command, reason);
                }
            }
            Report::State { state } => self.state = self.state.max(state),
            // One that is too far ahead will be repeated.
            Report::Sealed { seq } if (self.seen..self.seen.saturating_add(RESEND_MAX)).contains(&seq) => {
                let first = self.seen;
                self.ahead.insert(seq);
                while self.ahead.remove(&self.seen) {
                    self.seen += 1;
                }
                return News::Sealed(first..self.seen);
            }
            Report::Sealed { .. } => {}
            Report::Done { intervals, cause } => {
                self.state = State::Sealed;
                self.done = Some((intervals, cause));
            }
        }
        News::Nothing
    }

    /// Take a command off, if it is still unanswered.
    fn answered(&mut self, seq: u64) -> Option<Command> {
        let place = self.unanswered.iter().position(|(number, _)| *number == seq)?;
        self.unanswered.remove(place).map(|(_, command)| command)
    }
}
