//! [`NatsAgentLink`]: the agent's end of a link over a broker.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use wavetank_fleet::wire::{AgentFrame, encode_agent};
use wavetank_link::{AgentLinkEvent, AgentWaker, Closed, INTERVAL_BYTES_MAX};

use crate::agent_side::{AgentShared, AgentSide};
use crate::broker::Broker;
use crate::broker_thread::BrokerThread;
use crate::outbox::{Content, Outgoing};

/// Messages that wait for the broker.
const MESSAGES_MAX: usize = 1_024;

/// The agent's end: a connection to the broker, where a controller may be.
///
/// Messages beyond the limits of its queues are lost and counted. The state machines repeat them.
#[derive(Debug)]
pub struct NatsAgentLink {
    shared: Arc<AgentShared>,
    subject: String,
    _thread: BrokerThread,
}

impl NatsAgentLink {
    /// Starts to connect to the broker, for the agent of this name. Each event wakes `waker`, for
    /// an agent that waits for another link at the same time.
    ///
    /// # Errors
    /// If the system has no thread, files or random bytes for it.
    pub fn start(broker: Broker, name: &str, waker: Option<AgentWaker>) -> std::io::Result<Self> {
        let shared = Arc::new(AgentShared::default());
        let subject = broker.subjects.report(name);
        let command = broker.subjects.command(name);
        let side = AgentSide::new(Arc::clone(&shared), subject.clone(), waker);
        let thread = BrokerThread::start(broker, command, MESSAGES_MAX, side)?;
        Ok(Self { shared, subject, _thread: thread })
    }

    /// Returns the next event, waiting at most `wait` (zero: without waiting).
    ///
    /// A broker that cannot be reached is reported as a disconnection, once.
    pub fn receive(&self, wait: Duration) -> Option<AgentLinkEvent> {
        self.shared.inbox.pop(wait)
    }

    /// Sends to the controller without waiting. A message to a full queue, with an interval above
    /// [`INTERVAL_BYTES_MAX`], or with one that is not JSON is lost and counted.
    ///
    /// # Errors
    /// If no controller is connected.
    pub fn send(&self, frame: AgentFrame) -> Result<(), Closed> {
        let outbox = self.shared.outbox.get().ok_or(Closed)?;
        let lost = || {
            self.shared.overflowed.fetch_add(1, Ordering::Relaxed);
        };
        let AgentFrame { message, interval } = frame;
        if interval.as_ref().is_some_and(|interval| interval.len() > INTERVAL_BYTES_MAX) {
            lost();
            return Ok(());
        }
        let Ok(line) = encode_agent(&message, interval.as_deref()) else {
            lost();
            return Ok(());
        };
        let content = Content::Line(None);
        if !outbox.send(Outgoing { subject: self.subject.clone(), content, data: line.into_bytes() })? {
            lost();
        }
        Ok(())
    }

    /// Number of messages that were lost, see [`Self::send`].
    pub fn overflowed(&self) -> u64 {
        self.shared.overflowed.load(Ordering::Relaxed)
    }
}
