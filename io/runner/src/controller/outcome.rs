//! What the fleet's outcome means for the book.

use wavetank_diagnose::RunEnd;
use wavetank_fleet::{AgentEnd, EndCause, Outcome, RefusalReason};
use wavetank_plan::Phase;
use wavetank_units::{Code, UserError, phrase, sentence};

use super::RunController;
use super::agents::Agents;
use super::agents::prepare_max;

impl RunController<'_> {
    /// What the outcome means for the book.
    pub(super) fn apply_outcome(&mut self, outcome: &Outcome) -> Result<(), UserError> {
        // What a fleet lacks is in its own part of the record.
        let own = matches!(self.agents, Agents::Local(..)).then_some(&outcome.agents);
        for agent in own.into_iter().flatten() {
            for reason in &agent.refused {
                match reason {
                    RefusalReason::Host(lines) if outcome.started_at.is_none() => {
                        let hint = "look at `ulimit -a` and at the limits of the container";
                        let text = format!("this host {}", lines.join("; "));
                        return Err(UserError::refused(Code::HostCannot, text, hint));
                    }
                    RefusalReason::TooLate => {
                        self.log
                            .lost
                            .push(phrase!("this host was delayed until an agreed instant had passed"));
                    }
                    RefusalReason::Host(lines) => {
                        self.log.lost.push(sentence!("this host {}", lines.join("; ")));
                    }
                    RefusalReason::WrongState(_)
                    | RefusalReason::OlderEpoch { .. }
                    | RefusalReason::Busy { .. }
                    | RefusalReason::PlanHash { .. }
                    | RefusalReason::Unsupported => {
                        self.log.lost.push(phrase!("a command was refused by the agent of this host"));
                    }
                }
            }
            match agent.end {
                AgentEnd::Sealed(EndCause::Plan | EndCause::Command | EndCause::NotStarted) => {}
                AgentEnd::Sealed(EndCause::Orphaned | EndCause::Overdue | EndCause::Crashed)
                | AgentEnd::Unfinished => {
                    self.log.lost.push(phrase!("the load did not end when it should have and was cut"));
                }
                AgentEnd::Lost => self.log.lost.push(phrase!("the agent of this host was lost")),
            }
        }
        let silent = matches!(self.log.ending, RunEnd::Finished) && self.log.lost.is_empty();
        if silent && outcome.started_at.is_none() {
            // The controller waited for as long as any target can take, and then stopped.
            self.log.ending = RunEnd::NeverBegan { waited: prepare_max(&self.plan) };
            return Ok(());
        }
        let counted = self.plan.phases.iter().any(Phase::is_counted);
        if matches!(self.log.ending, RunEnd::Finished)
            && counted
            && let Some(class) = self.log.ledger.only_class()
        {
            self.log.ending = RunEnd::Hopeless { class };
        }
        Ok(())
    }
}
