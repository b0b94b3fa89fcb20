//! [`AgentSide`]: what the agent's end does with the messages of controllers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wavetank_fleet::wire::{ControllerFrame, WireError, decode_controller};
use wavetank_link::{AgentLinkEvent, AgentWaker, CONTROLLER_LINE_BYTES_MAX, Queue};

use crate::assembler::{Assembled, Assembler};
use crate::broker_thread::Side;
use crate::outbox::{ActiveOutbox, Outbox, Outgoing};
use crate::packet::{Origin, Packet, PlanName};
use crate::plan_fetch::{Fetched, PlanFetch};

/// Most events that wait for the agent.
const EVENTS_MAX: usize = 1_024;
/// Events with this many bytes wait for the agent at most.
const EVENT_BYTES_MAX: usize = 64 << 20;
/// Bytes of an event, roughly. The text of a plan is shared with the link.
const EVENT_BYTES: usize = 512;

/// What the link and its thread share.
#[derive(Debug)]
pub(crate) struct AgentShared {
    pub(crate) inbox: Queue<AgentLinkEvent>,
    /// Set while a controller is connected.
    pub(crate) outbox: ActiveOutbox,
    pub(crate) overflowed: Arc<AtomicU64>,
}

impl Default for AgentShared {
    fn default() -> Self {
        Self {
            inbox: Queue::new(EVENTS_MAX, EVENT_BYTES_MAX),
            outbox: ActiveOutbox::default(),
            overflowed: Arc::new(AtomicU64::new(0)),
        }
    }
}

/// See the module's description.
pub(crate) struct AgentSide {
    shared: Arc<AgentShared>,
    waker: Option<AgentWaker>,
    /// The subject of reports.
    subject: String,
    controller: Option<Origin>,
    /// The end of a connection, for which the inbox had no room.
    ended: Option<String>,
    /// Whether it was reported that the broker cannot be reached.
    unreachable: bool,
    parts: Assembler,
    part_bytes: usize,
    /// The last plan.
    plan: Option<(PlanName, Arc<str>)>,
    fetch: Option<PlanFetch>,
    /// The offer that waits for its plan.
    offer: Option<ControllerFrame>,
}

impl AgentSide {
    pub(crate) fn new(shared: Arc<AgentShared>, subject: String, waker: Option<AgentWaker>) -> Self {
        Self {
            shared,
            waker,
            subject,
            controller: None,
            ended: None,
            unreachable: false,
            parts: Assembler::new(CONTROLLER_LINE_BYTES_MAX),
            part_bytes: 0,
            plan: None,
            fetch: None,
            offer: None,
        }
    }

    fn push(&self, event: AgentLinkEvent) -> bool {
        let pushed = self.shared.inbox.try_push(event, EVENT_BYTES).is_ok();
        if pushed && let Some(waker) = &self.waker {
            waker.wake();
        }
        pushed
    }

    /// Passes on an event that may be lost.
    fn push_or_count(&self, event: AgentLinkEvent) {
        if !self.push(event) {
            self.count();
        }
    }

    fn count(&self) {
        self.shared.overflowed.fetch_add(1, Ordering::Relaxed);
    }

    /// Reports an end as soon as the inbox has room. Returns whether it was reported.
    fn report_end(&mut self) -> bool {
        let Some(reason) = self.ended.take() else { return true };
        let pushed = self.push(AgentLinkEvent::Disconnected { reason: reason.clone() });
        if !pushed {
            self.ended = Some(reason);
        }
        pushed
    }

    fn end(&mut self, reason: &str) {
        self.shared.outbox.set(None);
        self.parts.clear();
        if self.controller.take().is_some() {
            self.ended = Some(reason.to_owned());
            self.report_end();
        }
    }

    /// Whether a message is the active controller's. One from a new connection makes it active.
    fn is_active(&mut self, origin: Origin, outbox: &Outbox) -> bool {
        if let Some(current) = self.controller {
            if current == origin {
                return true;
            }
            if origin.is_before(current) {
                return false;
            }
            self.end(if current.instance == origin.instance {
                "the controller connected again"
            } else {
                "another controller replaced it"
            });
        }
        if !self.report_end() || !self.push(AgentLinkEvent::Connected) {
            return false;
        }
        self.controller = Some(origin);
        self.shared.outbox.set(Some(outbox.clone()));
        self.greet(outbox);
        true
    }

    fn greet(&self, outbox: &Outbox) {
        let _ = outbox.send(Outgoing::empty(self.subject.clone(), Packet::Greeting));
    }

    fn take_line(&mut self, line: &[u8], plan: Option<PlanName>) {
        match decode_controller(line) {
            Ok(frame) => match plan {
                Some(name) => self.take_offer(frame, name),
                None => self.push_or_count(AgentLinkEvent::Frame(frame)),
            },
            Err(WireError::Version { found }) => self.push_or_count(AgentLinkEvent::OtherVersion { found }),
            Err(WireError::Damaged(_)) => self.count(),
        }
    }

    /// Passes on an offer with its plan, once the plan is there.
    fn take_offer(&mut self, frame: ControllerFrame, name: PlanName) {
        if let Some((_, text)) = self.plan.as_ref().filter(|(known, _)| *known == name) {
            let plan = Some(Arc::clone(text));
            return self.push_or_count(AgentLinkEvent::Frame(ControllerFrame { plan, ..frame }));
        }
        if self.fetch.as_ref().is_none_or(|fetch| *fetch.name() != name) {
            self.fetch = PlanFetch::new(name);
            // One plan at a time is kept: a run has one.
            self.plan = None;
        }
        if self.fetch.is_none() {
            return self.count();
        }
        self.offer = Some(frame);
    }

    fn take_piece(&mut self, hash: &str, offset: usize, piece: &[u8]) {
        let Some(fetch) = &mut self.fetch else { return };
        match fetch.add(hash, offset, piece) {
            Fetched::Incomplete => {}
            // The controller repeats its offer, and the plan is fetched again.
            Fetched::Damaged => {
                self.fetch = None;
                self.count();
            }
            Fetched::Plan(text) => {
                let name = fetch.name().clone();
                self.fetch = None;
                self.plan = Some((name.clone(), text));
                if let Some(offer) = self.offer.take() {
                    self.take_offer(offer, name);
                }
            }
        }
    }

    /// Requests what is missing of a plan.
    fn request(&mut self, outbox: &Outbox) {
        let Some(fetch) = &mut self.fetch else { return };
        while let Some(want) = fetch.poll(self.part_bytes) {
            // A request that is lost is repeated.
            let _ = outbox.send(Outgoing::empty(self.subject.clone(), want));
        }
    }
}

impl Side for AgentSide {
    fn connected(&mut self, outbox: &Outbox, part_bytes: usize) {
        (self.part_bytes, self.unreachable) = (part_bytes, false);
        // A controller that is there answers.
        self.greet(outbox);
    }

    fn handle(&mut self, _: &str, origin: Origin, message: (Packet, &[u8]), outbox: &Outbox) {
        let (packet, data) = message;
        if packet == Packet::Farewell {
            if self.controller == Some(origin) {
                self.end("the controller ended");
            }
            return;
        }
        if !self.is_active(origin, outbox) {
            return self.count();
        }
        match packet {
            Packet::Part { number, index, of, plan } => match self.parts.add(number, index, of, data) {
                Assembled::Line(line) => self.take_line(&line, plan),
                Assembled::Incomplete => {}
                Assembled::Lost => self.count(),
            },
            Packet::Piece { hash, offset } => self.take_piece(&hash, offset, data),
            Packet::Greeting | Packet::Farewell | Packet::Want { .. } => {}
        }
        self.request(outbox);
    }

    fn tick(&mut self, outbox: &Outbox) {
        self.report_end();
        if let Some(fetch) = &mut self.fetch {
            fetch.retry();
        }
        self.request(outbox);
    }

    fn disconnected(&mut self, reason: &str) {
        let had_controller = self.controller.is_some();
        self.end(reason);
        if !had_controller {
            self.unreachable(reason);
        }
    }

    fn unreachable(&mut self, reason: &str) {
        if !self.unreachable && self.report_end() {
            let reason = reason.to_owned();
            self.unreachable = self.push(AgentLinkEvent::Disconnected { reason });
        }
    }

    fn farewells(&mut self) -> Vec<Outgoing> {
        vec![Outgoing::empty(self.subject.clone(), Packet::Farewell)]
    }

    fn lost(&self) -> impl Fn() + Send + 'static {
        let overflowed = Arc::clone(&self.shared.overflowed);
        move || {
            overflowed.fetch_add(1, Ordering::Relaxed);
        }
    }
}
