//! [`RemoteAgents`]: the agents of a fleet, as the controller of a run reaches them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, ControllerFrame};
use wavetank_fleet::{
    AgentId, AgentMessage, AgentPayload, Command, ControllerMessage, ControllerPayload, LossPolicy,
};
use wavetank_link::StreamEvent;
use wavetank_measure::{FleetMerger, Interval};
use wavetank_record::{AgentHealth, IntervalExtras, IntervalLine};
use wavetank_store::LineDigest;
use wavetank_units::{Nanos, Sentence, sentence};

use super::fleet_link::FleetLink;
use super::fleet_run::FleetRun;

/// Events handled in a row, so that a fast fleet does not keep the controller from its timeouts.
const EVENTS_MAX: usize = 256;

/// See the module's description.
pub(super) struct RemoteAgents {
    link: FleetLink,
    agents: Vec<RemoteAgent>,
    /// The agent of each connection.
    connections: BTreeMap<AgentId, usize>,
    /// The package of the plan, as text.
    package: Arc<str>,
    merger: FleetMerger,
    /// First messages, not handled yet.
    greetings: Vec<(AgentId, AgentMessage)>,
    /// What the loss of an agent under load means.
    pub(super) on_loss: LossPolicy,
}

/// An agent, as far as its messages show it.
pub(super) struct RemoteAgent {
    pub(super) name: String,
    /// Number of the next interval. Earlier ones are stored, later ones are sent again.
    next: u64,
    digest: LineDigest,
    /// The load is over: the instant at which its last request was resolved.
    drained: Option<Nanos>,
    lost: bool,
    pub(super) cores: u32,
    /// Requests that it sent.
    pub(super) sent: u64,
    pub(super) health: Option<AgentHealth>,
}

/// What a turn of the link brought.
pub(super) enum RemoteEvent {
    /// A message for the state machine.
    Message(AgentId, AgentMessage),
    /// An interval's line, new and in order, and what came with it.
    Interval {
        /// Number of the agent.
        agent: usize,
        /// The line.
        line: String,
        /// Its extras.
        extras: Box<IntervalExtras>,
        /// The interval, if the fleet's interval was merged without it.
        amendment: Option<Box<Interval>>,
    },
    /// A connection changed.
    Link {
        /// Number of the agent.
        agent: usize,
        /// What happened.
        text: Sentence,
    },
}

impl RemoteAgents {
    /// The agents of `fleet`, which get `package` with their offers.
    pub(super) fn new(fleet: FleetRun, package: String) -> Self {
        let FleetRun { link, agents, connections, tolerance } = fleet;
        let merger = FleetMerger::new(u16::try_from(agents.len()).unwrap_or(u16::MAX));
        let greetings = agents.iter().filter_map(|agent| agent.hello.clone()).collect();
        let agents = agents
            .into_iter()
            .map(|agent| RemoteAgent {
                cores: agent.cores(),
                name: agent.name,
                next: 0,
                digest: LineDigest::default(),
                drained: None,
                lost: false,
                sent: 0,
                health: None,
            })
            .collect();
        Self {
            link,
            agents,
            connections,
            package: package.into(),
            merger,
            greetings,
            on_loss: tolerance.on_loss,
        }
    }

    /// Sends a message. One that is lost is repeated by the state machine.
    pub(super) fn send(&self, to: AgentId, message: ControllerMessage) {
        let is_offer =
            matches!(message.order, ControllerPayload::Command { command: Command::Offer { .. }, .. });
        let plan = is_offer.then(|| Arc::clone(&self.package));
        let _ = self.link.send(to, ControllerFrame { message, plan });
    }

    /// Returns what arrived, waiting at most `wait` for the first of it.
    pub(super) fn turn(&mut self, wait: Duration) -> Vec<RemoteEvent> {
        let mut events: Vec<RemoteEvent> =
            self.greetings.drain(..).map(|(agent, message)| RemoteEvent::Message(agent, message)).collect();
        let mut wait = if events.is_empty() { wait } else { Duration::ZERO };
        for _ in 0..EVENTS_MAX {
            let Some(event) = self.link.receive(wait) else { break };
            wait = Duration::ZERO;
            match event {
                StreamEvent::Connected { agent, host } => {
                    self.connections.insert(agent, host);
                }
                StreamEvent::Frame { agent, frame } => self.accept(agent, frame, &mut events),
                StreamEvent::Disconnected { agent, host, reason } => {
                    self.connections.remove(&agent);
                    events.push(RemoteEvent::Link {
                        agent: host,
                        text: sentence!("connection lost: {reason}"),
                    });
                }
                // The first failure was reported as a disconnection.
                StreamEvent::Unreachable { .. } | StreamEvent::OtherVersion { .. } => {}
            }
        }
        events
    }

    /// Takes a frame. Intervals are taken in order: an agent sends those again that are not taken.
    fn accept(&mut self, from: AgentId, frame: AgentFrame, events: &mut Vec<RemoteEvent>) {
        let AgentFrame { message, interval } = frame;
        let Some(&number) = self.connections.get(&from) else { return };
        let agent = &mut self.agents[number];
        match &message.report {
            AgentPayload::Sealed { seq } if *seq >= agent.next => {
                let Some(line) = interval.filter(|_| *seq == agent.next) else { return };
                let Some(event) = take(agent, number, line, &mut self.merger) else { return };
                events.push(event);
            }
            AgentPayload::Unstored { seq } if *seq >= agent.next => {
                if *seq > agent.next {
                    return;
                }
                agent.next += 1;
            }
            AgentPayload::Done(_) => {
                self.merger.agent_ended(index(number));
            }
            _ => {}
        }
        events.push(RemoteEvent::Message(from, message));
    }

    /// The fleet's interval number `seq` is complete. Returns intervals of the fleet in order.
    pub(super) fn seal(&mut self, seq: u64) -> Vec<Interval> {
        self.merger.seal(seq);
        std::iter::from_fn(|| self.merger.poll()).collect()
    }

    /// Returns everything that was delivered and not sealed: the run is over.
    pub(super) fn seal_all(&mut self) -> Vec<Interval> {
        self.merger.seal_until(Nanos::MAX);
        std::iter::from_fn(|| self.merger.poll()).collect()
    }

    /// The agent of this name is lost, and what it held with it.
    pub(super) fn lose(&mut self, name: &str) {
        if let Some(number) = self.number_of(name) {
            self.agents[number].lost = true;
            self.merger.agent_lost(index(number));
        }
    }

    /// The agent with this name is heard again.
    pub(super) fn regain(&mut self, name: &str) {
        if let Some(number) = self.number_of(name) {
            self.agents[number].lost = false;
            self.merger.agent_back(index(number));
        }
    }

    /// Records the end of the load on an agent. Returns the last instant at which a request was
    /// resolved, once all agents have drained that are not lost.
    pub(super) fn drained(&mut self, number: usize, at: Nanos) -> Option<Nanos> {
        self.agents[number].drained = Some(at);
        let mut last = at;
        for agent in self.agents.iter().filter(|agent| !agent.lost) {
            last = last.max(agent.drained?);
        }
        Some(last)
    }

    /// The number of the agent with this name.
    fn number_of(&self, name: &str) -> Option<usize> {
        self.agents.iter().position(|agent| agent.name == name)
    }

    /// Returns the digest of an agent's intervals, as its spool has it.
    pub(super) fn digest(&self, name: &str) -> String {
        self.number_of(name).map(|number| self.agents[number].digest.hex()).unwrap_or_default()
    }

    /// Whether intervals came too late to be merged with those of the others.
    pub(super) const fn is_amended(&self) -> bool {
        self.merger.is_amended()
    }

    /// All agents, by their numbers.
    pub(super) fn agents(&self) -> &[RemoteAgent] {
        &self.agents
    }

    /// Keeps the latest usage of an agent's host.
    pub(super) fn note_health(&mut self, number: usize, health: Option<AgentHealth>) {
        if health.is_some() {
            self.agents[number].health = health;
        }
    }
}

/// Decodes an interval's line. A damaged line is not taken, so the agent sends it again.
fn take(
    agent: &mut RemoteAgent,
    number: usize,
    line: String,
    merger: &mut FleetMerger,
) -> Option<RemoteEvent> {
    let sealed = IntervalLine::decode(line.as_bytes()).ok()?;
    let extras = Box::new(IntervalExtras::decode(line.as_bytes()).ok()?);
    agent.sent += sealed.interval.steps.iter().map(|series| series.counters.sent).sum::<u64>();
    let amendment = merger.deliver(index(number), agent.next, sealed.interval).map(Box::new);
    agent.digest.add(&line);
    agent.next += 1;
    Some(RemoteEvent::Interval { agent: number, line, extras, amendment })
}

/// An agent's number, as the merger counts.
fn index(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}
