//! [`ControllerSide`]: what the controller's end does with the messages of the agents.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wavetank_fleet::AgentId;
use wavetank_fleet::wire::{WireError, decode_agent};
use wavetank_link::{AGENT_LINE_BYTES_MAX, Queue, StreamEvent};

use crate::Subjects;
use crate::assembler::{Assembled, Assembler};
use crate::broker_thread::Side;
use crate::outbox::{ActiveOutbox, Content, Outbox, Outgoing};
use crate::packet::{Origin, Packet, PlanName};

/// Most events of each agent that wait for the controller.
const EVENTS_MAX: usize = 1_024;
/// Events with this many bytes wait for the controller at most.
const EVENT_BYTES_MAX: usize = 256 << 20;
/// Bytes of an event without attached data, roughly.
const EVENT_BYTES: usize = 512;

/// What the link and its thread share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) inbox: Queue<StreamEvent>,
    pub(crate) outbox: ActiveOutbox,
    pub(crate) overflowed: Arc<AtomicU64>,
    plan: Mutex<Option<Plan>>,
    hosts: Mutex<Vec<HostSession>>,
}

/// The plan that agents may request.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) name: PlanName,
    pub(crate) text: Arc<str>,
}

/// An agent, and its session if it has one.
#[derive(Debug)]
struct HostSession {
    report: String,
    command: String,
    session: Option<(Origin, AgentId)>,
    parts: Assembler,
    /// The end of a session, for which the inbox had no room.
    ended: Option<(AgentId, String)>,
    /// Why there is no session.
    failure: Option<String>,
}

impl Shared {
    pub(crate) fn new(subjects: &Subjects, names: &[String]) -> Self {
        let host = |name: &String| HostSession {
            report: subjects.report(name),
            command: subjects.command(name),
            session: None,
            parts: Assembler::new(AGENT_LINE_BYTES_MAX),
            ended: None,
            failure: None,
        };
        Self {
            inbox: Queue::new(EVENTS_MAX * names.len().max(1), EVENT_BYTES_MAX),
            outbox: ActiveOutbox::default(),
            overflowed: Arc::new(AtomicU64::new(0)),
            plan: Mutex::new(None),
            hosts: Mutex::new(names.iter().map(host).collect()),
        }
    }

    /// The subject of the agent with this session; `None` if the session has ended.
    pub(crate) fn command_of(&self, agent: AgentId) -> Option<String> {
        let hosts = self.hosts();
        let host = hosts.iter().find(|host| host.session.is_some_and(|(_, id)| id == agent))?;
        Some(host.command.clone())
    }

    /// Why each agent has no session.
    pub(crate) fn failures(&self) -> Vec<Option<String>> {
        self.hosts().iter().map(|host| host.failure.clone()).collect()
    }

    pub(crate) fn plan(&self) -> MutexGuard<'_, Option<Plan>> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosts(&self) -> MutexGuard<'_, Vec<HostSession>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: StreamEvent) -> bool {
        let bytes = match &event {
            StreamEvent::Frame { frame, .. } => frame.interval.as_ref().map_or(0, String::len),
            _ => 0,
        };
        self.inbox.try_push(event, EVENT_BYTES + bytes).is_ok()
    }

    fn count(&self) {
        self.overflowed.fetch_add(1, Ordering::Relaxed);
    }
}

/// See the module's description.
pub(crate) struct ControllerSide {
    shared: Arc<Shared>,
    /// Indexes of the agents by the subjects of their reports.
    by_subject: HashMap<String, usize>,
    next_agent: u32,
    part_bytes: usize,
}

impl ControllerSide {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let subjects = shared.hosts().iter().map(|host| host.report.clone()).zip(0..).collect();
        Self { shared, by_subject: subjects, next_agent: 0, part_bytes: 0 }
    }

    /// Reports the end of a session as soon as the inbox has room. Returns whether it was reported.
    fn report_end(&self, index: usize, host: &mut HostSession) -> bool {
        let Some((agent, reason)) = host.ended.take() else { return true };
        let event = StreamEvent::Disconnected { agent, host: index, reason: reason.clone() };
        let pushed = self.shared.push(event);
        if !pushed {
            host.ended = Some((agent, reason));
        }
        pushed
    }

    fn end(&self, index: usize, host: &mut HostSession, reason: &str) {
        host.parts.clear();
        host.failure = Some(reason.to_owned());
        if let Some((_, agent)) = host.session.take() {
            host.ended = Some((agent, reason.to_owned()));
            self.report_end(index, host);
        }
    }

    /// Returns the session of a message. A message from a new connection begins one.
    fn session(
        &mut self,
        (index, host): (usize, &mut HostSession),
        origin: Origin,
        outbox: &Outbox,
    ) -> Option<AgentId> {
        if let Some((current, agent)) = host.session {
            if current == origin {
                return Some(agent);
            }
            if origin.is_before(current) {
                return None;
            }
            self.end(index, host, "it connected again; another agent may have the same name");
        }
        let agent = AgentId(self.next_agent);
        if !self.report_end(index, host) || !self.shared.push(StreamEvent::Connected { agent, host: index }) {
            return None;
        }
        self.next_agent += 1;
        host.session = Some((origin, agent));
        host.failure = None;
        let _ = outbox.send(Outgoing::empty(host.command.clone(), Packet::Greeting));
        Some(agent)
    }

    fn take_line(&self, agent: AgentId, line: &[u8]) {
        let event = match decode_agent(line) {
            Ok(frame) => StreamEvent::Frame { agent, frame },
            Err(WireError::Version { found }) => StreamEvent::OtherVersion { agent, found },
            Err(WireError::Damaged(_)) => return self.shared.count(),
        };
        if !self.shared.push(event) {
            self.shared.count();
        }
    }

    /// Sends a piece of the plan, if it is the current one.
    fn send_piece(&self, command: &str, (hash, offset, length): (String, usize, usize), outbox: &Outbox) {
        let plan = self.shared.plan();
        let Some(plan) = plan.as_ref().filter(|plan| plan.name.hash == hash) else { return };
        let end = offset.saturating_add(length.min(self.part_bytes)).min(plan.text.len());
        let Some(piece) = plan.text.as_bytes().get(offset..end) else { return };
        let content = Content::Packet(Packet::Piece { hash, offset });
        // A piece that is lost is requested again.
        let _ = outbox.send(Outgoing { subject: command.to_owned(), content, data: piece.to_vec() });
    }
}

impl Side for ControllerSide {
    fn connected(&mut self, outbox: &Outbox, part_bytes: usize) {
        self.part_bytes = part_bytes;
        self.shared.outbox.set(Some(outbox.clone()));
        let silent = "its agent has not reported";
        self.shared.hosts().iter_mut().for_each(|host| host.failure = Some(silent.to_owned()));
    }

    fn handle(&mut self, subject: &str, origin: Origin, message: (Packet, &[u8]), outbox: &Outbox) {
        let Some(&index) = self.by_subject.get(subject) else { return };
        let shared = Arc::clone(&self.shared);
        let mut hosts = shared.hosts();
        let host = &mut hosts[index];
        let (packet, data) = message;
        if packet == Packet::Farewell {
            if host.session.is_some_and(|(current, _)| current == origin) {
                self.end(index, host, "the agent ended");
            }
            return;
        }
        let Some(agent) = self.session((index, host), origin, outbox) else { return shared.count() };
        match packet {
            Packet::Part { number, index, of, .. } => match host.parts.add(number, index, of, data) {
                Assembled::Line(line) => self.take_line(agent, &line),
                Assembled::Incomplete => {}
                Assembled::Lost => shared.count(),
            },
            Packet::Want { hash, offset, length } => {
                self.send_piece(&host.command, (hash, offset, length), outbox);
            }
            Packet::Greeting | Packet::Farewell | Packet::Piece { .. } => {}
        }
    }

    fn tick(&mut self, outbox: &Outbox) {
        let mut hosts = self.shared.hosts();
        for (index, host) in hosts.iter_mut().enumerate() {
            self.report_end(index, host);
            if host.session.is_none() {
                let _ = outbox.send(Outgoing::empty(host.command.clone(), Packet::Greeting));
            }
        }
    }

    fn disconnected(&mut self, reason: &str) {
        self.shared.outbox.set(None);
        let mut hosts = self.shared.hosts();
        for (index, host) in hosts.iter_mut().enumerate() {
            let had_session = host.session.is_some();
            self.end(index, host, reason);
            if !had_session {
                self.shared.push(StreamEvent::Unreachable { host: index, reason: reason.to_owned() });
            }
        }
    }

    fn unreachable(&mut self, reason: &str) {
        let mut hosts = self.shared.hosts();
        for (index, host) in hosts.iter_mut().enumerate() {
            self.report_end(index, host);
            host.failure = Some(reason.to_owned());
            self.shared.push(StreamEvent::Unreachable { host: index, reason: reason.to_owned() });
        }
    }

    fn farewells(&mut self) -> Vec<Outgoing> {
        let hosts = self.shared.hosts();
        let farewell = |host: &HostSession| Outgoing::empty(host.command.clone(), Packet::Farewell);
        hosts.iter().filter(|host| host.session.is_some()).map(farewell).collect()
    }

    fn lost(&self) -> impl Fn() + Send + 'static {
        let overflowed = Arc::clone(&self.shared.overflowed);
        move || {
            overflowed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
