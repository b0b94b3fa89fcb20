//! [`AgentLinks`]: the links of an agent, of which one has its controller.

use std::cell::Cell;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use wavetank_fleet::wire::AgentFrame;
use wavetank_link::{AgentLinkEvent, AgentListener, Closed};
use wavetank_nats::{Broker, NatsAgentLink};
use wavetank_units::UserError;

/// The agent's socket, and its connection to a broker if it has one.
pub(super) struct AgentLinks {
    listener: AgentListener,
    broker: Option<NatsAgentLink>,
    /// Whether the last controller came over the broker.
    over_broker: Cell<bool>,
}

impl AgentLinks {
    /// Listens in `folder`, and connects to `broker` under the agent's `name`.
    pub(super) fn open(
        folder: &Path,
        broker: Option<Broker>,
        name: &str,
        failed: impl Fn(&dyn Display) -> UserError,
    ) -> Result<Self, UserError> {
        let listener = AgentListener::bind(folder).map_err(|error| failed(&error))?;
        let connect = |broker| NatsAgentLink::start(broker, name, Some(listener.waker()));
        let broker = broker.map(connect).transpose().map_err(|error| failed(&error))?;
        Ok(Self { listener, broker, over_broker: Cell::new(false) })
    }

    /// Returns the next event of any link, waiting at most `wait`.
    pub(super) fn receive(&self, wait: Duration) -> Option<AgentLinkEvent> {
        if let Some(event) = self.listener.receive(wait) {
            self.note(&event, false);
            return Some(event);
        }
        // An event of the broker ended the wait.
        let event = self.broker.as_ref()?.receive(Duration::ZERO)?;
        self.note(&event, true);
        Some(event)
    }

    /// The link of the last message has the controller.
    fn note(&self, event: &AgentLinkEvent, over_broker: bool) {
        if matches!(event, AgentLinkEvent::Connected | AgentLinkEvent::Frame(_)) {
            self.over_broker.set(over_broker);
        }
    }

    /// Sends to the controller without waiting.
    ///
    /// # Errors
    /// If no controller is connected.
    pub(super) fn send(&self, frame: AgentFrame) -> Result<(), Closed> {
        match &self.broker {
            Some(broker) if self.over_broker.get() => broker.send(frame),
            _ => self.listener.send(frame),
        }
    }
}
