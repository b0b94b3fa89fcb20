//! The world: one clock, one seed, controllers, agents, hosts, disks and links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use wavetank_fleet::{
    Agent, AgentId, AgentMessage, AgentPayload, AgentState, Change, Clocks, Controller, ControllerMessage,
    Loss, Member, Members, Outcome, RunSetup,
};
use wavetank_pace::Philox;
use wavetank_units::Nanos;

use crate::sim::clock::AgentClock;
use crate::sim::controller_host::ControllerDisk;
use crate::sim::due_agents::DueAgents;
use crate::sim::host::{Disk, Host};
use crate::sim::scenario::{Act, Fault, Scenario};

/// See the module's description.
pub(crate) struct World {
    pub(crate) now: Nanos,
    pub(crate) scenario: Scenario,
    pub(crate) setup: RunSetup,
    pub(crate) random: Philox,
    /// The owner of the run, unless it died.
    pub(crate) controller: Option<Controller>,
    /// Former owners that were suspended; they continue at that instant.
    pub(crate) zombies: Vec<(Nanos, Controller)>,
    pub(crate) disk: ControllerDisk,
    pub(crate) agents: Vec<Option<Agent>>,
    /// When something happens at each agent next.
    due: DueAgents,
    /// Agents that something has happened to since that was looked up.
    touched: BTreeSet<usize>,
    pub(crate) clocks: Vec<AgentClock>,
    pub(crate) hosts: Vec<Host>,
    pub(crate) disks: Vec<Disk>,
    /// Hosts that died and were replaced.
    pub(crate) fallen: Vec<(usize, Host)>,
    /// Messages in transit, by instant of arrival.
    pub(crate) wires: BTreeMap<(Nanos, u64), (usize, Message)>,
    pub(crate) sent: u64,
    acts: VecDeque<(Nanos, Act)>,
    /// What befalls processes, by instant.
    pub(crate) fates: BTreeMap<(Nanos, u64), Fate>,
    pub(crate) instances: u64,
    pub(crate) controller_died: Option<Nanos>,
    pub(crate) outcome: Option<Outcome>,
    /// Changes a controller accepted, and whether all of them were by one controller.
    pub(crate) changes: Vec<(Nanos, Change)>,
    pub(crate) lost: Vec<(Nanos, Loss)>,
    pub(crate) sealed: u64,
    pub(crate) rebalanced: Vec<u16>,
    story: Story,
}

#[derive(Clone, Debug)]
pub(crate) enum Message {
    ToAgent(ControllerMessage),
    /// With the data of an interval.
    ToController(AgentMessage, Option<u64>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Fate {
    AgentDies(usize),
    AgentReturns(usize),
    ControllerDies,
    ControllerReturns,
    ControllerSleeps(Nanos),
}

/// The last events, printed when a check fails.
struct Story {
    seed: u64,
    lines: VecDeque<(Nanos, StoryLine)>,
}

/// Text is only made of an arrival if it is printed.
enum StoryLine {
    Text(String),
    Arrival(usize, Message),
}

impl Drop for Story {
    #[expect(clippy::print_stderr, reason = "a failing test prints its last events")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}; replay it with WAVETANK_SEED={}; last events:", self.seed, self.seed);
            for (at, line) in &self.lines {
                match line {
                    StoryLine::Text(text) => eprintln!("{:>12} {text}", at.to_string()),
                    StoryLine::Arrival(number, message) => {
                        eprintln!("{:>12} at or from agent {number}: {message:?}", at.to_string());
                    }
                }
            }
        }
    }
}

impl World {
    pub(crate) fn new(seed: u64, agents: usize, scenario: Scenario) -> Self {
        let mut random = Philox::keyed(seed, 2, agents as u64);
        let setup = RunSetup {
            members: Members::Named((0..agents).map(|k| Member::new(name(k))).collect()),
            margin: scenario.margin,
            lead_in: scenario.lead_in,
            end_by: Some(scenario.plan.after(Nanos::from_secs(5))),
            clocks: Clocks::MEASURED,
            on_loss: scenario.on_loss,
            rebalance: scenario.rebalance,
            phase_starts: [Some(Nanos::ZERO - scenario.lead_in), scenario.second_phase]
                .into_iter()
                .flatten()
                .collect(),
            spools: true,
            ..RunSetup::new(1, "1", "hash")
        };
        let clocks = (0..agents).map(|_| clock(&scenario, &mut random)).collect();
        let mut acts: Vec<_> = scenario.acts.clone();
        acts.sort_by_key(|act| act.0);
        let first = StoryLine::Text(format!("{scenario:?}, {agents} agents"));
        let lines = VecDeque::from([(Nanos::ZERO, first)]);
        let mut world = Self {
            now: Nanos::ZERO,
            random,
            controller: Some(Controller::new(setup.clone(), Nanos::ZERO)),
            zombies: Vec::new(),
            disk: ControllerDisk::default(),
            agents: vec![None; agents],
            due: DueAgents::new(agents),
            touched: BTreeSet::new(),
            clocks,
            hosts: vec![Host::default(); agents],
            disks: vec![Disk::default(); agents],
            fallen: Vec::new(),
            wires: BTreeMap::new(),
            sent: 0,
            acts: acts.into(),
            fates: BTreeMap::new(),
            instances: 0,
            controller_died: None,
            outcome: None,
            changes: Vec::new(),
            lost: Vec::new(),
            sealed: 0,
            rebalanced: Vec::new(),
            story: Story { seed, lines },
            setup,
            scenario,
        };
        (0..agents).for_each(|number| world.start_agent(number));
        world.plan_fates();
        world
    }

    fn plan_fates(&mut self) {
        for fault in self.scenario.faults.clone() {
            match fault {
                Fault::Crash { agent, at, back } => {
                    self.befall(at, Fate::AgentDies(agent));
                    if let Some(back) = back {
                        self.befall(back, Fate::AgentReturns(agent));
                    }
                }
                Fault::CrashController { at, back } => {
                    self.befall(at, Fate::ControllerDies);
                    if let Some(back) = back {
                        self.befall(back, Fate::ControllerReturns);
                    }
                }
                Fault::ReplaceController { at, len } => {
                    self.befall(at, Fate::ControllerSleeps(len));
                    self.befall(at.after(Nanos::from_secs(2)), Fate::ControllerReturns);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn befall(&mut self, at: Nanos, fate: Fate) {
        self.sent += 1;
        self.fates.insert((at, self.sent), fate);
    }

    /// Until nothing more happens to the run.
    pub(crate) fn run(&mut self) {
        let suspended = self.scenario.faults.iter().fold(Nanos::ZERO, |sum, fault| match fault {
            Fault::Suspend { len, .. } | Fault::Cut { len, .. } | Fault::ReplaceController { len, .. } => {
                sum + *len
            }
            _ => sum,
        });
        let limit = self.now + suspended + self.scenario.plan + Nanos::from_secs(500);
        for _ in 0..1_000_000 {
            self.settle();
            let Some(next) = self.next().filter(|_| !self.is_over()) else { return };
            self.now = self.now.max(next);
            assert!(self.now < limit, "still busy at {}", self.now);
            self.advance();
        }
        panic!("a loop without progress at {}", self.now);
    }

    /// After the run: `wavetank fleet settle` on a network without faults fetches what is missing
    /// from the disks.
    pub(crate) fn fetch_rest(&mut self) {
        self.scenario.faults.clear();
        self.zombies.clear();
        self.wires.clear();
        for number in 0..self.agents.len() {
            if self.agents[number].is_none() {
                self.start_agent(number);
            }
            // One that was suspended goes on.
            self.touch(number);
        }
        self.disk.crash(&mut self.random);
        self.outcome = None;
        self.controller = Some(self.disk.resume(&self.setup, self.now));
        self.run();
    }

    fn is_over(&self) -> bool {
        let at_rest = |agent: &Option<Agent>| {
            agent.as_ref().is_none_or(|agent| matches!(agent.state(), AgentState::Idle | AgentState::Sealed))
        };
        let has_owner = self.controller.is_some() && self.outcome.is_none();
        !has_owner && self.fates.is_empty() && self.zombies.is_empty() && self.agents.iter().all(at_rest)
    }

    pub(crate) fn record_line(&mut self, line: impl FnOnce() -> String) {
        self.add_line(StoryLine::Text(line()));
    }

    fn add_line(&mut self, line: StoryLine) {
        // A replayed seed is printed in full.
        if self.story.lines.len() > 90 && std::env::var_os("WAVETANK_SEED").is_none() {
            self.story.lines.remove(1);
        }
        self.story.lines.push_back((self.now, line));
    }

    fn next(&self) -> Option<Nanos> {
        let controller = self.controller.as_ref().and_then(Controller::poll_timeout);
        let zombies =
            self.zombies.iter().map(|(wakes, zombie)| zombie.poll_timeout().unwrap_or(*wakes).max(*wakes));
        let all = [
            controller,
            self.wires.keys().next().map(|key| key.0),
            self.acts.front().map(|act| act.0).filter(|_| self.controller.is_some()),
            self.fates.keys().next().map(|key| key.0),
            self.due.first(),
        ];
        all.into_iter().flatten().chain(zombies).min()
    }

    /// Something happens to an agent, so that what it does next may change.
    pub(crate) fn touch(&mut self, number: usize) {
        self.touched.insert(number);
    }

    /// Takes the agents that were touched, and looks up when something happens at each next.
    pub(crate) fn look_up_touched(&mut self) {
        for number in std::mem::take(&mut self.touched) {
            let next = self.next_of_agent(number);
            self.due.set(number, next);
        }
    }

    /// The agents that something happened to.
    pub(crate) fn touched(&self) -> Vec<usize> {
        self.touched.iter().copied().collect()
    }

    fn next_of_agent(&self, number: usize) -> Option<Nanos> {
        let agent = self.agents[number].as_ref()?;
        let host = self.hosts[number].next(self.clocks[number].at(self.now));
        let next = [agent.poll_timeout(), host].into_iter().flatten().min()?;
        let next = self.clocks[number].world(next);
        Some(self.suspended_until(number).map_or(next, |until| next.max(until)))
    }

    fn suspended_until(&self, number: usize) -> Option<Nanos> {
        let now = self.now;
        let until = self.scenario.faults.iter().filter_map(|fault| match *fault {
            Fault::Suspend { agent, at, len } if agent == number && (at..at + len).contains(&now) => {
                Some(at + len)
            }
            _ => None,
        });
        until.max()
    }

    /// Everything that is due: arrivals first, timeouts last, as a real loop does.
    fn advance(&mut self) {
        let now = self.now;
        while let Some(entry) = self.fates.first_entry().filter(|entry| entry.key().0 <= now) {
            let fate = entry.remove();
            self.on_fate(fate);
        }
        while let Some(entry) = self.wires.first_entry().filter(|entry| entry.key().0 <= now) {
            let (number, message) = entry.remove();
            self.deliver(number, message);
            self.touch(number);
            self.settle_after(number);
        }
        while self.controller.is_some()
            && let Some(act) = self.acts.pop_front_if(|act| act.0 <= now)
        {
            self.act(act.1);
        }
        self.touched.extend(self.due.due_at(now));
        for number in self.touched.clone() {
            if self.suspended_until(number).is_none() {
                self.advance_agent(number);
            }
        }
        self.settle();
        let is_due = |controller: &Controller| controller.poll_timeout().is_some_and(|at| now >= at);
        if let Some(controller) = self.controller.as_mut().filter(|controller| is_due(controller)) {
            controller.handle_timeout(now);
        }
        for (wakes, zombie) in &mut self.zombies {
            if *wakes <= now && is_due(zombie) {
                zombie.handle_timeout(now);
            }
        }
        // A former owner ends when its run is over, or a minute after it woke up.
        self.zombies.retain(|(wakes, zombie)| {
            zombie.poll_timeout().is_some() && now < wakes.after(Nanos::from_secs(60))
        });
    }

    fn deliver(&mut self, number: usize, message: Message) {
        let now = self.now;
        if let Some(until) = self.suspended_until(number)
            && matches!(message, Message::ToAgent(_))
        {
            self.sent += 1;
            self.wires.insert((until, self.sent), (number, message));
            return;
        }
        self.add_line(StoryLine::Arrival(number, message.clone()));
        match message {
            Message::ToAgent(message) => {
                let now = self.clocks[number].at(now);
                if let Some(agent) = &mut self.agents[number] {
                    agent.handle_message(message, now);
                    let disk = &mut self.disks[number];
                    if !disk.deleted {
                        disk.run = Some(agent.run());
                    }
                }
            }
            Message::ToController(message, content) => {
                let id = AgentId(number as u32);
                for (_, zombie) in self.zombies.iter_mut().filter(|(wakes, _)| *wakes <= now) {
                    zombie.handle_message(id, message.clone(), now);
                }
                if let Some(controller) = &mut self.controller {
                    if let (AgentPayload::Sealed { seq }, Some(content)) = (&message.report, content) {
                        self.disk.stage(id, *seq, content);
                    }
                    controller.handle_message(id, message, now);
                }
            }
        }
    }
}

/// The name of an agent.
pub(crate) fn name(number: usize) -> String {
    format!("load{number}")
}

fn clock(scenario: &Scenario, random: &mut Philox) -> AgentClock {
    let max = scenario.clock_offset_max.0.unsigned_abs();
    let drift = scenario.drift_max_ppm;
    AgentClock {
        offset: Nanos(random.below(2 * max + 1) as i64 - max as i64),
        drift_ppm: random.below(2 * drift + 1) as i64 - drift as i64,
    }
}
