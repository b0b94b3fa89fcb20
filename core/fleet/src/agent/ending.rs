//! How an agent's load ends: by command, without a controller, at its hard end.

use wavetank_units::Nanos;

use super::{Agent, Offer};
use crate::action::AgentAction;
use crate::constants::ORPHAN_DRAIN_MAX;
use crate::message::{AgentPayload, AgentState, EndCause};

impl Agent {
    /// Ends the run without a command: drains under load, stops before it.
    pub(super) fn give_up(&mut self, cause: EndCause, now: Nanos) {
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

    /// An agent that was suspended past its lease was given up: its load ends before it hears
    /// messages from before.
    pub(super) fn check_lease(&mut self, now: Nanos) {
        if self.is_strict() && self.may_be_orphaned() && now >= self.lease.until {
            self.give_up(EndCause::Orphaned, now);
        }
    }

    pub(super) const fn is_strict(&self) -> bool {
        !self.setup.shares_process
    }

    /// Whether the end of the lease would end the load.
    pub(super) fn may_be_orphaned(&self) -> bool {
        let busy = self.preparing.is_some() || self.state > AgentState::Idle;
        busy && self.state != AgentState::Sealed && self.stop_at.is_none() && !self.stopped
    }

    /// Whether another run may have this agent.
    pub(super) fn is_free(&self) -> bool {
        self.state == AgentState::Sealed || (self.state == AgentState::Idle && self.preparing.is_none())
    }

    pub(super) fn drain(&mut self, now: Nanos) {
        self.load_ended.get_or_insert(now);
        self.actions.push_back(AgentAction::Drain);
        self.enter(AgentState::Draining);
    }

    pub(super) fn stop(&mut self) {
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
    pub(super) fn abandon_preparing(&mut self) {
        if let Some(Offer { epoch, seq, .. }) = self.preparing.take()
            && epoch == self.epoch
        {
            self.answer(seq, AgentPayload::Accepted { seq });
        }
    }

    pub(super) fn seal(&mut self) {
        self.abandon_preparing();
        self.stop_at = None;
        if self.commitment.is_none() {
            self.cause = EndCause::NotStarted;
        }
        self.enter(AgentState::Sealed);
        self.report_done();
    }

    pub(super) fn enter(&mut self, state: AgentState) {
        if self.state != state {
            debug_assert!(self.state < state, "states only advance");
            self.state = state;
            self.report(AgentPayload::State { state });
        }
    }
}
