//! The world: one clock, one seed, a controller, agents, hosts and links.

use std::collections::{BTreeMap, VecDeque};

use wavetank_fleet::constants::{CHANGE_AHEAD_MIN, ORPHAN_DRAIN_MAX, ORPHAN_GRACE, PREPARE_MAX, STOP_MAX};
use wavetank_fleet::{
    Agent, AgentAction, AgentEnd, AgentId, AgentMessage, AgentState, Change, ChangeRefused, Controller,
    ControllerAction, ControllerMessage, ControllerNotice, EndCause, Outcome, RunSetup,
};
use wavetank_pace::{Partition, Philox};
use wavetank_plan::Nanos;

use crate::sim::fault::{Act, Fault, Scenario};
use crate::sim::host::{Host, Kind};

/// See the module's description.
pub(crate) struct World {
    now: Nanos,
    scenario: Scenario,
    random: Philox,
    controller: Option<Controller>,
    agents: Vec<Option<Agent>>,
    pub(crate) hosts: Vec<Host>,
    /// Hosts that died and were replaced.
    fallen: Vec<(usize, Host)>,
    /// Messages in transit, by instant of arrival.
    wires: BTreeMap<(Nanos, u64), (usize, Message)>,
    sent: u64,
    acts: VecDeque<(Nanos, Act)>,
    /// Deaths and returns of agents, by instant.
    fates: VecDeque<(Nanos, usize, bool)>,
    pub(crate) controller_died: Option<Nanos>,
    pub(crate) outcome: Option<Outcome>,
    /// Changes the controller accepted.
    pub(crate) changes: Vec<(Nanos, Change)>,
    /// Intervals noticed of each agent.
    noticed: Vec<u64>,
    pub(crate) lost: Vec<(Nanos, AgentId)>,
    story: Story,
}

#[derive(Clone, Debug)]
enum Message {
    ToAgent(ControllerMessage),
    ToController(AgentMessage),
}

/// The last events, printed when a check fails.
struct Story {
    seed: u64,
    lines: VecDeque<String>,
}

impl Drop for Story {
    #[expect(clippy::print_stderr, reason = "a failing test prints its last events")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}; last events:", self.seed);
            self.lines.iter().for_each(|line| eprintln!("  {line}"));
        }
    }
}

impl World {
    pub(crate) fn new(seed: u64, agents: usize, scenario: Scenario) -> Self {
        let setup = RunSetup {
            shares: (0..agents as u64).map(|k| Partition::WHOLE.split(agents as u64, k)).collect(),
            margin: scenario.margin,
            lead_in: scenario.lead_in,
            end_by: Some(scenario.plan.after(Nanos::from_secs(5))),
            ..RunSetup::new(1, "hash")
        };
        let faults = &scenario.faults;
        let host = |number: usize| {
            let kind = faults.iter().find_map(|fault| match fault {
                Fault::Unready { agent } if *agent == number => Some(Kind::Unready),
                Fault::Deaf { agent } if *agent == number => Some(Kind::Deaf),
                _ => None,
            });
            Host::new(kind.unwrap_or_default(), scenario.plan, scenario.lead_in)
        };
        let mut acts: Vec<_> = scenario.acts.clone();
        acts.sort_by_key(|act| act.0);
        let mut fates = Vec::new();
        for fault in faults {
            if let Fault::Crash { agent, at, back } = *fault {
                fates.push((at, agent, false));
                fates.extend(back.map(|back| (back, agent, true)));
            }
        }
        fates.sort_unstable();
        let lines = VecDeque::from([format!("{scenario:?}, {agents} agents")]);
        Self {
            now: Nanos::ZERO,
            random: Philox::keyed(seed, 2, agents as u64),
            controller: Some(Controller::new(setup, Nanos::ZERO)),
            agents: (0..agents).map(|_| Some(Agent::new())).collect(),
            hosts: (0..agents).map(host).collect(),
            fallen: Vec::new(),
            wires: BTreeMap::new(),
            sent: 0,
            acts: acts.into(),
            fates: fates.into(),
            controller_died: None,
            outcome: None,
            changes: Vec::new(),
            noticed: vec![0; agents],
            lost: Vec::new(),
            story: Story { seed, lines },
            scenario,
        }
    }

    /// Until nothing is left to happen.
    pub(crate) fn run(&mut self) {
        let suspended = self.scenario.faults.iter().fold(Nanos::ZERO, |sum, fault| match fault {
            Fault::Suspend { len, .. } | Fault::Cut { len, .. } => sum + *len,
            _ => sum,
        });
        let waits = [PREPARE_MAX, STOP_MAX, ORPHAN_GRACE, ORPHAN_GRACE, ORPHAN_DRAIN_MAX, self.scenario.plan];
        let limit = waits.into_iter().fold(suspended + Nanos::from_secs(60), |sum, wait| sum + wait);
        for _ in 0..1_000_000 {
            self.settle();
            let Some(next) = self.next() else { return };
            self.now = self.now.max(next);
            for fault in &self.scenario.faults {
                if let Fault::Suspend { at, len } = *fault
                    && (at..at + len).contains(&self.now)
                {
                    self.now = at + len;
                }
            }
            assert!(self.now < limit, "still busy at {}", self.now);
            self.advance();
        }
        panic!("a loop without progress at {}", self.now);
    }

    /// Checks the invariants of every world.
    pub(crate) fn judge_always(&self) {
        assert!(
            self.outcome.is_some() || self.controller_died.is_some(),
            "a run with a live controller ends"
        );
        for (number, host) in self.records().into_iter().enumerate() {
            assert!(host.zero.is_none() || host.gone.is_some(), "agent {number} was left under load");
            assert!(self.noticed[number] <= host.sealed, "agent {number}: noticed more than was sealed");
        }
        let Some(outcome) = &self.outcome else { return };
        for (agent, host) in outcome.agents.iter().zip(self.records()) {
            assert_eq!(agent.intervals, self.noticed[agent.agent.0 as usize]);
            if let AgentEnd::Sealed(cause) = agent.end {
                assert_eq!(agent.intervals, host.sealed, "sealed, but not all intervals noticed");
                let carried_out =
                    host.load_to.zip(host.zero).is_some_and(|(to, zero)| to >= zero.after(host.plan));
                assert!(cause != EndCause::Plan || carried_out, "called carried out, but was not");
            }
        }
        if outcome.is_complete() {
            self.judge_changes();
            assert!(
                self.records().iter().all(|host| host.zero == outcome.started_at),
                "complete without a common start"
            );
        }
    }

    /// Returns for each agent the host that took part in the run: the present one, or an earlier
    /// one.
    fn records(&self) -> Vec<&Host> {
        let took_part = |number| {
            let mut hosts =
                self.fallen.iter().filter(move |(fallen, _)| *fallen == number).map(|(_, host)| host);
            hosts.find(|host| host.zero.is_some())
        };
        self.hosts.iter().enumerate().map(|(number, host)| took_part(number).unwrap_or(host)).collect()
    }

    /// All hosts have carried out all changes that fell into their load, in order.
    fn judge_changes(&self) {
        for host in self.records() {
            let end = host.load_to.zip(host.zero).map_or(Nanos::ZERO, |(to, zero)| to - zero);
            let within = |changes: &[(Nanos, Change)]| -> Vec<_> {
                changes.iter().copied().filter(|change| change.0 < end).collect()
            };
            assert_eq!(within(&host.changes), within(&self.changes), "changes of a load that ended at {end}");
        }
    }

    fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.story.lines.len() > 60 {
            self.story.lines.remove(1);
        }
        self.story.lines.push_back(format!("{:>12} {}", self.now.to_string(), line()));
    }

    fn next(&self) -> Option<Nanos> {
        let timeouts = self.agents.iter().flatten().filter_map(Agent::poll_timeout);
        let controller = self.controller.as_ref().and_then(Controller::poll_timeout);
        let death = self.controller.as_ref().and_then(|_| self.death_of_controller());
        let all = [
            controller,
            death,
            self.wires.keys().next().map(|key| key.0),
            self.acts.front().map(|act| act.0).filter(|_| self.controller.is_some()),
            self.fates.front().map(|fate| fate.0),
        ];
        let hosts = self.hosts.iter().filter_map(Host::next);
        all.into_iter().flatten().chain(timeouts).chain(hosts).min()
    }

    fn death_of_controller(&self) -> Option<Nanos> {
        self.scenario.faults.iter().find_map(|fault| match fault {
            Fault::CrashController { at } => Some(*at),
            _ => None,
        })
    }

    /// Everything that is due: arrivals first, timeouts last, as a real loop does.
    fn advance(&mut self) {
        let now = self.now;
        while let Some(&(number, agent_lives)) = self
            .fates
            .front()
            .filter(|fate| fate.0 <= now)
            .map(|(_, number, lives)| (*number, *lives))
            .as_ref()
        {
            self.fates.pop_front();
            self.fate(number, agent_lives);
        }
        if self.controller.is_some() && self.death_of_controller().is_some_and(|at| now >= at) {
            self.tell(|| "the controller dies".to_owned());
            self.controller = None;
            self.controller_died = Some(now);
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= now) {
            let (number, message) = entry.remove();
            self.deliver(number, message);
            self.settle();
        }
        while let Some(act) = self.acts.pop_front_if(|act| act.0 <= now) {
            self.act(act.1);
        }
        for number in 0..self.agents.len() {
            if let Some(agent) = &mut self.agents[number] {
                self.hosts[number].advance(agent, now);
                if agent.poll_timeout().is_some_and(|at| now >= at) {
                    agent.handle_timeout(now);
                }
            }
        }
        self.settle();
        if let Some(controller) =
            self.controller.as_mut().filter(|c| c.poll_timeout().is_some_and(|at| now >= at))
        {
            controller.handle_timeout(now);
        }
    }

    fn fate(&mut self, number: usize, lives: bool) {
        let now = self.now;
        self.tell(|| format!("agent {number} {}", if lives { "is back" } else { "dies" }));
        if lives && self.agents[number].is_none() {
            self.agents[number] = Some(Agent::new());
            let host = Host::new(self.hosts[number].kind, self.scenario.plan, self.scenario.lead_in);
            self.fallen.push((number, std::mem::replace(&mut self.hosts[number], host)));
        } else if !lives {
            self.agents[number] = None;
            self.hosts[number].die(now);
        }
    }

    fn act(&mut self, act: Act) {
        let now = self.now;
        self.tell(|| format!("the user: {act:?}"));
        let Some(controller) = &mut self.controller else { return };
        match act {
            Act::Drain => controller.drain(Nanos::from_secs(5), now),
            Act::Stop => controller.stop(now),
            Act::Change { ahead } => {
                let run_now = controller.started_at().map_or(now, |zero| now - zero);
                let change = Change::Users(self.changes.len() as u64);
                match controller.change(run_now + ahead, change, now) {
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

    fn deliver(&mut self, number: usize, message: Message) {
        let now = self.now;
        self.tell(|| format!("arrives at or from agent {number}: {message:?}"));
        match message {
            Message::ToAgent(message) => {
                if let Some(agent) = &mut self.agents[number] {
                    agent.handle_message(message, now);
                }
            }
            Message::ToController(message) => {
                if let Some(controller) = &mut self.controller {
                    controller.handle_message(AgentId(number as u32), message, now);
                }
            }
        }
    }

    /// Carry out what the machines decided, until they rest.
    fn settle(&mut self) {
        while let Some(action) = self.controller.as_mut().and_then(Controller::poll) {
            match action {
                ControllerAction::Send { to, message } => {
                    self.send(to.0 as usize, &Message::ToAgent(message));
                }
                ControllerAction::Notify(notice) => self.notice(notice),
            }
        }
        for number in 0..self.agents.len() {
            while let Some(action) = self.agents[number].as_mut().and_then(Agent::poll) {
                if let AgentAction::Send(message) = action {
                    self.send(number, &Message::ToController(message));
                    continue;
                }
                self.tell(|| format!("agent {number} shall {action:?}"));
                if let AgentAction::StartAt(_) = action {
                    assert!(self.all_were_prepared(), "a start before all are prepared");
                }
                self.hosts[number].act(&action, self.now);
            }
        }
    }

    /// An agent may have died since, unnoticed as yet.
    fn all_were_prepared(&self) -> bool {
        let before = |number| self.fallen.iter().any(|(fallen, host)| *fallen == number && host.prepared);
        self.hosts.iter().enumerate().all(|(number, host)| host.prepared || before(number))
    }

    fn notice(&mut self, notice: ControllerNotice) {
        self.tell(|| format!("noticed: {notice:?}"));
        assert!(self.outcome.is_none(), "a notice after the last");
        match notice {
            ControllerNotice::Committed(_) => {
                assert!(self.all_were_prepared(), "committed before all are prepared");
            }
            ControllerNotice::Sealed { agent, seq } => {
                assert_eq!(seq, self.noticed[agent.0 as usize], "each interval once, in order");
                self.noticed[agent.0 as usize] += 1;
            }
            ControllerNotice::Lost(agent) => self.lost.push((self.now, agent)),
            ControllerNotice::Back(_) | ControllerNotice::Refused { .. } => {}
            ControllerNotice::Over(outcome) => {
                let states = |agent| self.controller.as_ref().and_then(|controller| controller.state(agent));
                for agent in outcome.agents.iter().filter(|agent| matches!(agent.end, AgentEnd::Sealed(_))) {
                    assert_eq!(states(agent.agent), Some(AgentState::Sealed));
                }
                self.outcome = Some(outcome);
            }
        }
    }

    /// Put a message on the wire, or not, or twice.
    fn send(&mut self, number: usize, message: &Message) {
        let (mut delay_max, mut copies) = (self.scenario.delay_max, 1);
        for fault in &self.scenario.faults {
            match *fault {
                Fault::Delay { max } => delay_max = delay_max.max(max),
                Fault::Duplicate { percent } if self.random.below(100) < percent => copies *= 2,
                Fault::Lose { percent } if self.random.below(100) < percent => copies = 0,
                Fault::Cut { agent, from, len }
                    if agent == number && (from..from + len).contains(&self.now) =>
                {
                    copies = 0;
                }
                _ => {}
            }
        }
        for _ in 0..copies {
            let delay = Nanos(self.random.below(delay_max.0 as u64 + 1) as i64);
            self.sent += 1;
            self.wires.insert((self.now.after(delay), self.sent), (number, message.clone()));
        }
    }
}
