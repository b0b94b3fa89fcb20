//! What is different in a run with load from several hosts.

use wavetank_diagnose::RunEnd;
use wavetank_engine::{EndOfRun, LogLine};
use wavetank_fleet::wire::encode_record;
use wavetank_fleet::{
    AgentId, AgentState, AgentView, ControllerNotice, JournalRecord, Loss, LossPolicy, Outcome, StartProblem,
};
use wavetank_measure::ErrorClass;
use wavetank_plan::Key;
use wavetank_record::{EventKind, EventLine, IntervalExtras};
use wavetank_units::{Nanos, sentence};

use super::RunController;
use super::agents::Agents;
use crate::remote_agents::RemoteEvent;
use crate::sample::note_fault;

impl RunController<'_> {
    /// Handles what the agents of a fleet sent.
    pub(super) fn note_remote(&mut self, events: Vec<RemoteEvent>) {
        for event in events {
            match event {
                RemoteEvent::Message(from, message) => {
                    let now = self.now();
                    self.controller.handle_message(from, message, now);
                }
                RemoteEvent::Interval { agent, line, extras, amendment } => {
                    self.store_interval(agent, &line);
                    self.note_extras(agent, *extras);
                    if let Some(amendment) = amendment {
                        self.log.ledger.amend(&amendment);
                        if let Some(metrics) = &mut self.metrics {
                            metrics.amend();
                        }
                    }
                }
                RemoteEvent::Link { agent, text } => {
                    let text = sentence!("{}: {text}", self.agent_name(agent));
                    self.event(EventKind::AgentLink, text);
                }
            }
        }
    }

    /// Stores an agent's interval as it came.
    fn store_interval(&mut self, agent: usize, line: &str) {
        let now = self.clock.now();
        let Agents::Remote(remote) = &self.agents else { return };
        let name = &remote.agents()[agent].name;
        let problem = self.log.archive.as_mut().and_then(|archive| archive.agent_interval(now, name, line));
        self.log.store_problem(problem, now);
    }

    /// Handles what came with an interval.
    fn note_extras(&mut self, agent: usize, extras: IntervalExtras) {
        let IntervalExtras {
            samples,
            logs,
            logs_dropped,
            events,
            accounting,
            memory,
            health,
            host_samples,
            ..
        } = extras;
        let (drained, end_run) = (extras.drained_ns, extras.end_run);
        let name = self.agent_name(agent);
        let now = self.clock.now();
        let line = |logged: wavetank_record::LoggedLine| LogLine {
            key: Key { phase: logged.phase, ..Key::default() },
            at: Nanos(logged.at_ns),
            text: logged.text,
        };
        self.log(logs.into_iter().map(line).collect(), logs_dropped);
        for text in accounting {
            self.accounting_broken(sentence!("{name}: {text}"));
        }
        for sample in samples.iter().filter(|sample| sample.kind == "failed") {
            if let Some(class) = ErrorClass::ALL.into_iter().find(|class| class.name() == sample.class) {
                note_fault(&mut self.log.faults, class, Some(&sample.detail));
            }
        }
        for line in self.log.samples.add_lines(samples) {
            let problem = self.log.archive.as_mut().and_then(|archive| archive.sample(&line));
            self.log.store_problem(problem, now);
        }
        for event in events {
            if event.kind == EventKind::ThreadFailed {
                self.log.lost.push(sentence!("{name}: {}", event.text));
            }
            self.log.event(EventLine { agent: name.clone(), ..event }, now);
        }
        self.take_agent_samples(&name, host_samples);
        if let Some(memory) = memory {
            let sum = self.log.memory.get_or_insert_default();
            sum.connections += memory.connections;
            sum.grown_bytes += memory.grown_bytes;
            sum.bytes_per_connection = sum.grown_bytes / sum.connections.max(1);
        }
        let Agents::Remote(remote) = &mut self.agents else { return };
        remote.note_health(agent, health);
        if let Some(last) = drained.and_then(|at| remote.drained(agent, Nanos(at))) {
            self.drained(last);
        }
        if let Some(end) = end_run {
            self.on_end_run_requested(EndOfRun { scenario: end.scenario, failed: end.failed });
        }
    }

    /// Handles what the controller's machine says of a fleet.
    pub(super) fn fleet_notice(&mut self, notice: ControllerNotice) {
        match notice {
            ControllerNotice::Sealed { seq, .. } => {
                // In a fleet of one, intervals come from the agent's host.
                let Agents::Remote(remote) = &mut self.agents else { return };
                for interval in remote.seal(seq) {
                    self.sealed(&interval);
                }
            }
            ControllerNotice::Lost(loss) => self.agent_lost(&loss),
            ControllerNotice::Back(agent) => self.agent_back(&self.name_of(agent)),
            ControllerNotice::Refused { agent, reason } => {
                let reason = StartProblem::Refused(reason);
                let text = sentence!("agent {} refused a command: {reason}", self.name_of(agent));
                self.event(EventKind::CommandRefused, text);
            }
            ControllerNotice::CannotStart(refusal) => {
                self.event(EventKind::StartRefused, sentence!("{}: {}", refusal.name, refusal.reason));
            }
            ControllerNotice::DigestDiffers(agent) => {
                let text = sentence!(
                    "agent {} keeps its spool, which differs from the archive",
                    self.name_of(agent)
                );
                self.log.lost.push(text.clone());
                self.event(EventKind::SpoolKept, text);
            }
            ControllerNotice::Unstored { agent, seq } => {
                // What was sent before and was resolved within it is in no interval.
                self.log.ledger.mark_incomplete();
                let text = sentence!("agent {} could not store interval {seq}", self.name_of(agent));
                self.event(EventKind::IntervalUnstored, text);
            }
            ControllerNotice::Rebalanced { phase, .. } => self.rebalanced(phase),
            ControllerNotice::Joined { .. }
            | ControllerNotice::Committed(_)
            | ControllerNotice::Delivered { .. }
            | ControllerNotice::Amended { .. }
            | ControllerNotice::Over(_) => {}
        }
    }

    fn agent_lost(&mut self, loss: &Loss) {
        let text = sentence!("agent {} is silent", loss.name);
        let at = loss.at;
        let now = self.clock.now();
        if let Agents::Remote(remote) = &mut self.agents {
            remote.lose(&loss.name);
            self.log.console.warn(&format!("{text}; its share of the load is missing from now on"));
        }
        let event = EventLine { agent: loss.name.clone(), ..EventLine::new(at, EventKind::AgentLost, text) };
        self.log.event(event, now);
        if self.aborts_after(loss) {
            let text = sentence!("the loss of agent {} ends the run", loss.name);
            self.log.console.warn(&text);
            self.event(EventKind::StoppedOnLoss, text);
            self.end(RunEnd::AgentLost, None);
        }
    }

    /// The remaining agents send the whole load of the later phases.
    fn rebalanced(&mut self, phase: u16) {
        let Some(phase) = self.plan.phases.get(usize::from(phase)) else { return };
        let text = sentence!("the other agents send the load of lost ones from phase {} on", phase.name);
        self.log.console.info(&format!("rebalanced {text}"));
        self.event(EventKind::Rebalanced, text);
    }

    /// Whether the user wants the run to end because of this loss.
    fn aborts_after(&self, loss: &Loss) -> bool {
        let Agents::Remote(remote) = &self.agents else { return false };
        let views = self.controller.agents(self.now());
        // An agent that has sent its load is not needed any more.
        let is_needed = |view: &AgentView| view.name == loss.name && view.state < AgentState::Sealed;
        remote.on_loss == LossPolicy::Abort && !self.ending_early && views.iter().any(is_needed)
    }

    /// A lost agent is heard again. What was counted as lost is counted again from the archive.
    fn agent_back(&mut self, name: &str) {
        if let Agents::Remote(remote) = &mut self.agents {
            remote.regain(name);
            if remote.is_amended() {
                self.log.ledger.mark_incomplete();
            }
        }
        self.event(EventKind::AgentBack, sentence!("agent {name} is back"));
    }

    /// Writes a record of the controller's journal. A run inside one process ends with it and needs
    /// none.
    pub(super) fn journal(&mut self, record: &JournalRecord) {
        if matches!(self.agents, Agents::Local(..)) {
            return;
        }
        let now = self.clock.now();
        let line = encode_record(record);
        let problem = self.log.archive.as_mut().and_then(|archive| archive.fleet_record(line));
        self.log.store_problem(problem, now);
    }

    /// Makes the archive durable, so that agents may delete their spools.
    pub(super) fn settle(&mut self, outcome: &Outcome) {
        let now = self.now();
        let Agents::Remote(remote) = &self.agents else { return };
        let problem = self.log.archive.as_mut().and_then(|archive| archive.sync_now().err());
        if problem.is_some() {
            self.log.store_problem(problem, now);
            return self.controller.handle_archive_failed();
        }
        let archive = self.log.archive.as_ref();
        let digest =
            |name: &str| archive.map_or_else(|| remote.digest(name), |archive| archive.agent_digest(name));
        let digests: Vec<String> = outcome.agents.iter().map(|agent| digest(&agent.name)).collect();
        self.controller.handle_archived(&digests, now);
    }

    /// The run is over: counts what was delivered last.
    pub(super) fn seal_remaining(&mut self) {
        let Agents::Remote(remote) = &mut self.agents else { return };
        for interval in remote.seal_all() {
            self.sealed(&interval);
        }
    }

    fn agent_name(&self, number: usize) -> String {
        match &self.agents {
            Agents::Remote(remote) => remote.agents()[number].name.clone(),
            Agents::Local(..) => "local".to_owned(),
        }
    }

    fn name_of(&self, agent: AgentId) -> String {
        let views = self.controller.agents(self.now());
        let view = views.into_iter().find(|view| view.agent == Some(agent));
        view.map_or_else(|| agent.0.to_string(), |view| view.name)
    }
}
