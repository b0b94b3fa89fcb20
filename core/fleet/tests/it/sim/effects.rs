//! What happens in the world: fates, the user, and what the machines decide.

use wavetank_fleet::constants::CHANGE_AHEAD_MIN;
use wavetank_fleet::{
    Agent, AgentAction, AgentPayload, Change, ChangeRefused, Controller, ControllerAction, ControllerNotice,
    JournalRecord, Outcome,
};
use wavetank_units::Nanos;

use crate::sim::scenario::{Act, Fault};
use crate::sim::world::{Fate, Message, World, name};

impl World {
    pub(crate) fn on_fate(&mut self, fate: Fate) {
        self.record_line(|| format!("fate: {fate:?}"));
        match fate {
            Fate::AgentDies(number) => self.kill_agent(number, None),
            Fate::AgentReturns(number) if self.agents[number].is_none() => self.start_agent(number),
            // Its process ends with the run.
            Fate::ControllerDies if self.outcome.is_some() => {}
            Fate::ControllerDies => self.kill_controller(),
            // A run that is over needs no controller.
            Fate::ControllerReturns if self.controller.is_none() && self.outcome.is_none() => {
                self.controller = Some(self.disk.resume(&self.setup, self.now));
            }
            Fate::AgentReturns(_) | Fate::ControllerReturns => {}
            Fate::ControllerSleeps(len) => {
                let wakes = self.now + len;
                self.zombies.extend(self.controller.take().map(|controller| (wakes, controller)));
            }
        }
    }

    pub(crate) fn kill_controller(&mut self) {
        if self.controller.take().is_some() {
            self.record_line(|| "the controller dies".to_owned());
            self.controller_died = Some(self.now);
            self.disk.crash(&mut self.random);
        }
    }

    pub(crate) fn act(&mut self, act: Act) {
        let now = self.now;
        self.record_line(|| format!("the user: {act:?}"));
        let Some(controller) = &mut self.controller else { return };
        match act {
            Act::Drain => controller.drain(Nanos::from_secs(5), now),
            Act::Stop => controller.stop(now),
            Act::Change { ahead } => {
                let run_now = controller.started_at().map_or(now, |zero| now - zero);
                let change = Change::Users(self.changes.len() as u64);
                match controller.change(run_now + ahead, 0, change, now) {
                    Ok(()) => {
                        assert!(ahead >= CHANGE_AHEAD_MIN, "a change {ahead} ahead was taken");
                        self.changes.push((run_now + ahead, change));
                    }
                    Err(ChangeRefused::TooLate) => {
                        assert!(ahead < CHANGE_AHEAD_MIN, "{ahead} ahead is in time");
                    }
                    Err(ChangeRefused::NotRunning | ChangeRefused::Busy) => {}
                }
            }
        }
    }

    /// Carry out what the machines decided, until they rest.
    pub(crate) fn settle(&mut self) {
        self.settle_controllers();
        self.touched().into_iter().for_each(|number| self.settle_agent(number));
        self.look_up_touched();
    }

    /// The same after a message to or from one agent.
    pub(crate) fn settle_after(&mut self, number: usize) {
        self.settle_controllers();
        self.settle_agent(number);
    }

    fn settle_agent(&mut self, number: usize) {
        while let Some(action) = self.agents[number].as_mut().and_then(Agent::poll) {
            self.on_agent_action(number, action);
        }
    }

    fn settle_controllers(&mut self) {
        while let Some(action) = self.controller.as_mut().and_then(Controller::poll) {
            self.on_controller_action(action);
        }
        let mut zombies = std::mem::take(&mut self.zombies);
        zombies.retain_mut(|(_, zombie)| {
            while let Some(action) = zombie.poll() {
                match action {
                    ControllerAction::Send { to, message } => {
                        self.send(to.0 as usize, &Message::ToAgent(message));
                    }
                    ControllerAction::Notify(_) => {}
                    // A former owner cannot write to the run any more, and ends.
                    ControllerAction::Journal(_) | ControllerAction::Archive(_) => return false,
                }
            }
            true
        });
        self.zombies = zombies;
    }

    fn on_controller_action(&mut self, action: ControllerAction) {
        match action {
            ControllerAction::Send { to, message } => self.send(to.0 as usize, &Message::ToAgent(message)),
            ControllerAction::Notify(notice) => self.on_notice(notice),
            ControllerAction::Journal(record) => self.on_record(record),
            ControllerAction::Archive(outcome) => self.on_archive(&outcome),
        }
    }

    fn on_record(&mut self, record: JournalRecord) {
        let count = self.disk.journal.len();
        let crash = self
            .scenario
            .faults
            .iter()
            .position(|fault| matches!(fault, Fault::CrashAtRecord { number, .. } if *number == count));
        self.record_line(|| format!("record: {record:?}"));
        let Some(place) = crash else { return self.disk.journal.push(record) };
        if let Fault::CrashAtRecord { durable, back, .. } = self.scenario.faults.remove(place) {
            if durable {
                self.disk.journal.push(record);
            }
            self.kill_controller();
            self.befall(self.now.after(back), Fate::ControllerReturns);
        }
    }

    fn on_archive(&mut self, outcome: &Outcome) {
        self.record_line(|| "the archive is completed".to_owned());
        let is_crash = |fault: &Fault| matches!(fault, Fault::CrashAtArchive { .. });
        let crash = self.scenario.faults.iter().position(is_crash);
        if let Some(Fault::CrashAtArchive { durable }) = crash.map(|place| self.scenario.faults.remove(place))
        {
            if durable {
                self.disk.sync(outcome);
            }
            self.kill_controller();
            return self.befall(self.now.after(Nanos::from_secs(1)), Fate::ControllerReturns);
        }
        if self.scenario.faults.iter().any(|fault| matches!(fault, Fault::ArchiveFails)) {
            return self.controller.as_mut().expect("it asked").handle_archive_failed();
        }
        let digests = self.disk.sync(outcome);
        self.controller.as_mut().expect("it asked").handle_archived(&digests, self.now);
    }

    fn on_notice(&mut self, notice: ControllerNotice) {
        self.record_line(|| format!("noticed: {notice:?}"));
        assert!(self.outcome.is_none(), "a notice after the last");
        match notice {
            ControllerNotice::Committed(_) => {
                assert!(self.all_were_prepared(), "committed before all are prepared");
            }
            ControllerNotice::Delivered { agent, seq } => {
                self.disk.append(&name(agent.0 as usize), agent, seq, true);
            }
            ControllerNotice::Unstored { agent, seq } => {
                self.disk.append(&name(agent.0 as usize), agent, seq, false);
            }
            ControllerNotice::Sealed { seq, .. } => {
                // A new controller seals again what the former one may not have written.
                assert!(seq <= self.sealed, "each interval of the fleet in order");
                self.sealed = seq + 1;
            }
            ControllerNotice::Lost(loss) => self.lost.push((self.now, loss)),
            ControllerNotice::Rebalanced { phase, .. } => self.rebalanced.push(phase),
            ControllerNotice::DigestDiffers(agent) => panic!("the archive of {agent:?} differs"),
            ControllerNotice::Amended { .. }
            | ControllerNotice::Joined { .. }
            | ControllerNotice::Back(_)
            | ControllerNotice::Refused { .. }
            | ControllerNotice::CannotStart(_) => {}
            ControllerNotice::Over(outcome) => self.outcome = Some(outcome),
        }
    }

    fn on_agent_action(&mut self, number: usize, action: AgentAction) {
        match action {
            AgentAction::Send(message) => {
                let content = match message.report {
                    AgentPayload::Sealed { seq } => {
                        let content = self.disks[number].content(seq);
                        Some(content.expect("an interval is in the spool before it is sent"))
                    }
                    _ => None,
                };
                self.send(number, &Message::ToController(message, content));
            }
            AgentAction::Denied(_) => {}
            AgentAction::DeleteSpool => self.delete_spool(number),
            action => {
                self.record_line(|| format!("agent {number} shall {action:?}"));
                if let AgentAction::StartAt(_) = action {
                    assert!(self.all_were_prepared(), "a start before all are prepared");
                }
                let now = self.clocks[number].at(self.now);
                self.hosts[number].act(&action, now);
            }
        }
    }

    /// P7: the archive is durable before a spool goes.
    fn delete_spool(&mut self, number: usize) {
        self.record_line(|| format!("agent {number} deletes its spool"));
        let spool = &self.disks[number].spool;
        assert!(self.disk.is_durable(&name(number), spool), "deleted before it is durable");
        let crash = self.scenario.faults.iter().find_map(|fault| match *fault {
            Fault::CrashAtDelete { agent, deleted } if agent == number => Some(deleted),
            _ => None,
        });
        self.scenario
            .faults
            .retain(|fault| !matches!(fault, Fault::CrashAtDelete { agent, .. } if *agent == number));
        self.disks[number].deleted = crash != Some(false);
        if crash.is_some() {
            self.kill_agent(number, Some(Nanos::from_secs(1)));
        }
    }

    /// An agent may have died since, unnoticed as yet.
    fn all_were_prepared(&self) -> bool {
        let before = |number| self.fallen.iter().any(|(fallen, host)| *fallen == number && host.prepared);
        self.hosts.iter().enumerate().all(|(number, host)| host.prepared || before(number))
    }

    /// Put a message on the wire, or not, or twice.
    pub(crate) fn send(&mut self, number: usize, message: &Message) {
        let (mut delay_max, mut copies, mut extra) = (self.scenario.delay_max, 1, Nanos::ZERO);
        let to_agent = matches!(message, Message::ToAgent(_));
        for fault in &self.scenario.faults {
            match *fault {
                Fault::Delay { from, max } if self.now >= from => delay_max = delay_max.max(max),
                Fault::Asymmetric { extra: more } if to_agent => extra = extra.max(more),
                Fault::Duplicate { percent } if self.random.below(100) < percent => copies *= 2,
                Fault::Lose { percent } if self.random.below(100) < percent => copies = 0,
                Fault::Cut { agent, from, len }
                    if agent.is_none_or(|agent| agent == number)
                        && (from..from + len).contains(&self.now) =>
                {
                    copies = 0;
                }
                _ => {}
            }
        }
        for _ in 0..copies {
            let delay = Nanos(self.random.below(delay_max.0 as u64 + 1) as i64) + extra;
            self.sent += 1;
            self.wires.insert((self.now.after(delay), self.sent), (number, message.clone()));
        }
    }
}
