//! The agent carries out commands: each once, in order, of the controller that owns it.

use wavetank_units::Nanos;

use super::{Agent, Commitment, Offer};
use crate::action::AgentAction;
use crate::constants::CHANGE_ARRIVAL_MIN;
use crate::message::{AgentPayload, AgentState, Command, EndCause, RefusalReason, RunId};

impl Agent {
    /// Whether a controller of this run and epoch may give this command. A newer one takes over.
    pub(super) fn admit(&mut self, run: RunId, epoch: u64, command: &Command) -> Result<(), RefusalReason> {
        if run != self.run {
            // An agent that has ended may still have a spool: only a new run takes its place.
            let is_taken = match self.state {
                AgentState::Idle => self.preparing.is_some(),
                AgentState::Sealed => !matches!(command, Command::Offer { .. }),
                _ => true,
            };
            if is_taken {
                return Err(RefusalReason::Busy { run: self.run });
            }
        }
        if epoch < self.epoch || (run != self.run && epoch == self.epoch) {
            return Err(RefusalReason::OlderEpoch { current: self.epoch });
        }
        if run != self.run {
            let actions = std::mem::take(&mut self.actions);
            let beat_at = self.beat_at;
            *self = Self { run, epoch, beat_at, actions, ..Self::new(self.setup.clone(), Nanos::ZERO) };
        } else if epoch > self.epoch {
            self.epoch = epoch;
            self.seq = 0;
            self.answers.clear();
        }
        Ok(())
    }

    pub(super) fn on_command(&mut self, seq: u64, command: Command, now: Nanos) {
        // The controller of a restarted agent continues its numbers.
        let is_next = seq == self.seq + 1 || command == Command::Resume;
        if seq <= self.seq {
            self.extend_lease(now);
            if let Some((_, old)) = self.answers.iter().find(|(answered, _)| *answered == seq) {
                self.report(old.clone());
            }
        } else if is_next {
            if let Command::Offer { orphan_grace, .. } = command {
                self.lease.grace = orphan_grace;
            }
            self.extend_lease(now);
            self.seq = seq;
            if let Some(answer) = self.obey(seq, command, now) {
                self.answer(seq, answer);
            }
        }
        // A gap closes when the controller repeats what is missing.
    }

    /// Carries out a command. Returns its answer, unless the host must report first.
    fn obey(&mut self, seq: u64, command: Command, now: Nanos) -> Option<AgentPayload> {
        let is_adjustment = matches!(command, Command::Change { .. } | Command::Rebalance { .. });
        let result = match (command, self.state) {
            (Command::Resume, state) => return Some(self.resumed(seq, state)),
            (Command::Offer { plan_hash, share, .. }, AgentState::Idle) if self.preparing.is_none() => {
                self.preparing = Some(Offer { epoch: self.epoch, seq, plan_hash: plan_hash.clone() });
                self.actions.push_back(AgentAction::Prepare { plan_hash, share });
                return None;
            }
            (Command::Commit { start_at, load_from, end_by }, AgentState::Prepared) => {
                self.commit(Commitment { start_at, load_from, end_by }, now)
            }
            (Command::Change { at, phase, change }, AgentState::Committed | AgentState::Running) => {
                self.adjust(at, AgentAction::Change { at, phase, change }, now)
            }
            (Command::Rebalance { .. }, AgentState::Committed | AgentState::Running)
                if !self.setup.identity.capabilities.rebalance =>
            {
                Err(RefusalReason::Unsupported)
            }
            (Command::Rebalance { phase, at, share }, AgentState::Committed | AgentState::Running) => {
                self.adjust(at, AgentAction::Rebalance { phase, share }, now)
            }
            (
                Command::Release(release),
                AgentState::Committed | AgentState::Running | AgentState::Draining,
            ) => {
                // One that is stopped before its load began has no users.
                if self.commitment.is_some() {
                    self.actions.push_back(AgentAction::Release(release));
                }
                Ok(())
            }
            // There is nothing left to do.
            (Command::Drain, AgentState::Draining | AgentState::Sealed)
            | (Command::Stop | Command::Release(_), AgentState::Sealed) => Ok(()),
            (
                Command::Change { at, .. } | Command::Rebalance { at, .. },
                AgentState::Draining | AgentState::Sealed,
            ) if self.ended_by(at) => Ok(()),
            (
                Command::Offer { .. }
                | Command::Commit { .. }
                | Command::Change { .. }
                | Command::Rebalance { .. }
                | Command::Release(_),
                state,
            ) => Err(RefusalReason::WrongState(state)),
            (command @ (Command::Drain | Command::Stop), state) => {
                self.end(&command, state, now);
                Ok(())
            }
        };
        if is_adjustment {
            self.adjustments.received += 1;
            self.adjustments.refused += u64::from(result.is_err());
        }
        Some(match result {
            Ok(()) => AgentPayload::Accepted { seq },
            Err(reason) => AgentPayload::Refused { seq, reason },
        })
    }

    const fn resumed(&self, seq: u64, state: AgentState) -> AgentPayload {
        AgentPayload::Resumed { seq, state, adjustments: self.adjustments }
    }

    /// Passes on an adjustment of the load from `at` on.
    fn adjust(&mut self, at: Nanos, action: AgentAction, now: Nanos) -> Result<(), RefusalReason> {
        let start_at = self.commitment.expect("a committed agent has a commitment").start_at;
        if at < (now - start_at).after(CHANGE_ARRIVAL_MIN) {
            return Err(RefusalReason::TooLate);
        }
        self.actions.push_back(action);
        Ok(())
    }

    fn commit(&mut self, commitment: Commitment, now: Nanos) -> Result<(), RefusalReason> {
        if now > commitment.load_from {
            return Err(RefusalReason::TooLate);
        }
        self.commitment = Some(commitment);
        self.actions.push_back(AgentAction::StartAt(commitment.start_at));
        self.enter(AgentState::Committed);
        Ok(())
    }

    fn end(&mut self, command: &Command, state: AgentState, now: Nanos) {
        // An earlier cause of the end is kept.
        if self.cause == EndCause::Plan {
            self.cause = EndCause::Command;
        }
        // Before the load there is nothing to drain.
        if *command == Command::Drain && matches!(state, AgentState::Committed | AgentState::Running) {
            self.drain(now);
        } else {
            self.stop();
        }
    }

    /// Whether the load had ended when the run's clock showed `at`: then no change is due any more.
    fn ended_by(&self, at: Nanos) -> bool {
        let ended = self.load_ended.zip(self.commitment);
        ended.is_some_and(|(ended, commitment)| commitment.start_at.after(at) >= ended)
    }
}
