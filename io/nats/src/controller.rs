//! [`NatsLink`]: the controller's end of a link over a broker.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wavetank_fleet::AgentId;
use wavetank_fleet::wire::{ControllerFrame, encode_controller};
use wavetank_link::{Closed, HostFailure, StreamEvent};

use crate::broker::Broker;
use crate::broker_thread::BrokerThread;
use crate::controller_side::{ControllerSide, Plan, Shared};
use crate::outbox::{Content, Outgoing};
use crate::packet::PlanName;

/// Messages that wait for the broker, for each agent.
const MESSAGES_MAX: usize = 64;

/// The controller's end: one connection to the broker for all agents.
///
/// Messages beyond the limits of its queues are lost and counted. The state machines repeat them.
#[derive(Debug)]
pub struct NatsLink {
    shared: Arc<Shared>,
    names: Vec<String>,
    _thread: BrokerThread,
}

impl NatsLink {
    /// Starts to connect to the broker, for the agents with these names. The index of a name is the
    /// `host` of the events.
    ///
    /// # Errors
    /// If the system has no thread, files or random bytes for it.
    pub fn start(broker: Broker, names: Vec<String>) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::new(&broker.subjects, &names));
        let side = ControllerSide::new(Arc::clone(&shared));
        let subject = broker.subjects.reports();
        let messages_max = MESSAGES_MAX * names.len().max(1);
        let thread = BrokerThread::start(broker, subject, messages_max, side)?;
        Ok(Self { shared, names, _thread: thread })
    }

    /// Returns the next event, waiting at most `wait` (zero: without waiting). An agent that is
    /// silent causes none: its state machine has heartbeats for that.
    pub fn receive(&self, wait: Duration) -> Option<StreamEvent> {
        self.shared.inbox.pop(wait)
    }

    /// Sends to an agent without waiting. A message to a full queue is lost and counted. The agent
    /// fetches an attached plan by itself, once.
    ///
    /// # Errors
    /// If this session of the agent has ended.
    pub fn send(&self, to: AgentId, frame: ControllerFrame) -> Result<(), Closed> {
        let ControllerFrame { message, plan } = frame;
        let plan = plan.map(|text| self.name_of(text));
        let subject = self.shared.command_of(to).ok_or(Closed)?;
        let data = encode_controller(&message, None).into_bytes();
        let outbox = self.shared.outbox.get().ok_or(Closed)?;
        if !outbox.send(Outgoing { subject, content: Content::Line(plan), data })? {
            self.shared.overflowed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Keeps a plan for the agents that request it. The text is hashed only if it is a new one.
    fn name_of(&self, text: Arc<str>) -> PlanName {
        if let Some(plan) = self.shared.plan().as_ref().filter(|plan| Arc::ptr_eq(&plan.text, &text)) {
            return plan.name.clone();
        }
        let name = PlanName { hash: hash_of(&text), bytes: text.len() };
        *self.shared.plan() = Some(Plan { name: name.clone(), text });
        name
    }

    /// Returns the agents that are not connected, and why.
    pub fn failures(&self) -> Vec<HostFailure> {
        let reasons = self.shared.failures();
        let failed = self.names.iter().zip(reasons);
        failed
            .filter_map(|(name, reason)| Some(HostFailure { name: name.clone(), reason: reason? }))
            .collect()
    }

    /// Number of messages that were lost because a queue was full, or that were damaged.
    pub fn overflowed(&self) -> u64 {
        self.shared.overflowed.load(Ordering::Relaxed)
    }
}

/// Returns the hash by which a plan's text is known.
pub(crate) fn hash_of(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
