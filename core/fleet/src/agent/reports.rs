//! The agent's reports to its controller.

use super::Agent;
use crate::action::AgentAction;
use crate::constants::{RESEND_MAX, UNANSWERED_MAX};
use crate::message::{AgentMessage, AgentPayload, AgentState, Done, RunId};
use crate::rendezvous::WaitingUsers;

impl Agent {
    pub(super) fn introduce(&mut self) {
        self.report(AgentPayload::Hello(self.setup.identity.hello(self.state)));
    }

    /// Repeats reports of intervals that were sealed before the last lease and are still unseen.
    pub(super) fn resend(&mut self, seen: u64) {
        let sealed = self.intervals.sealed;
        for seq in seen..self.intervals.sealed_at_lease.min(seen.saturating_add(RESEND_MAX)) {
            let lost = self.intervals.unstored.contains(&seq);
            self.report(if lost { AgentPayload::Unstored { seq } } else { AgentPayload::Sealed { seq } });
        }
        self.intervals.sealed_at_lease = sealed;
    }

    /// The users that wait for those of other agents. Call it often while there are rendezvous; it
    /// reports changes.
    pub fn handle_waiting(&mut self, points: Vec<WaitingUsers>) {
        if self.waiting != points {
            self.waiting = points;
            self.report_waiting();
        }
    }

    /// Reports who waits, under load.
    pub(super) fn report_waiting(&mut self) {
        let is_under_load = self.state > AgentState::Prepared && self.state < AgentState::Sealed;
        if is_under_load && !self.waiting.is_empty() {
            self.report(AgentPayload::Waiting { points: self.waiting.clone() });
        }
    }

    pub(super) fn report_done(&mut self) {
        let (intervals, cause, first_sent) = (self.intervals.sealed, self.cause, self.first_sent);
        let (digest, adjustments) = (self.digest.clone(), self.adjustments);
        self.report(AgentPayload::Done(Done { intervals, cause, first_sent, digest, adjustments }));
    }

    /// Sends and remembers the answer to a command.
    pub(super) fn answer(&mut self, seq: u64, report: AgentPayload) {
        if self.answers.len() == UNANSWERED_MAX as usize {
            self.answers.pop_front();
        }
        self.answers.push_back((seq, report.clone()));
        self.report(report);
    }

    pub(super) fn report(&mut self, report: AgentPayload) {
        self.send(self.run, self.epoch, report);
    }

    pub(super) fn send(&mut self, run: RunId, epoch: u64, report: AgentPayload) {
        self.actions.push_back(AgentAction::Send(AgentMessage { run, epoch, report }));
    }
}
