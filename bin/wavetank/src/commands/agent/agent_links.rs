//! [`AgentLinks`]: the links of an agent, of which one has its controller.

use std::cell::Cell;
use std::fmt::Display;
use std::time::Duration;

use wavetank_fleet::wire::AgentFrame;
use wavetank_link::{AgentLinkEvent, AgentListener, Closed};
use wavetank_nats::NatsAgentLink;
use wavetank_units::UserError;

use crate::cli::AgentServeArgs;
use crate::commands::broker_access::open_broker;

/// The agent's socket, and its connection to a broker if it has one.
pub(super) struct AgentLinks {
    listener: AgentListener,
    broker: Option<NatsAgentLink>,
    /// Whether the last controller came over the broker.
    over_broker: Cell<bool>,
}

impl AgentLinks {
    /// Listens in the agent's folder, and connects to the broker that `args` name.
    pub(super) fn open(
        args: &AgentServeArgs,
        failed: impl Fn(&dyn Display) -> UserError,
    ) -> Result<Self, UserError> {
        let listener = AgentListener::bind(&args.dir).map_err(|error| failed(&error))?;
        let broker = match (&args.link, &args.nats_ca, &args.nats_fleet) {
            (Some(url), Some(ca), Some(fleet)) => {
                let broker = open_broker(url, fleet, (args.nats_seed.as_deref(), ca))?;
                let link = NatsAgentLink::start(broker, &args.name, Some(listener.waker()));
                Some(link.map_err(|error| failed(&error))?)
            }
            _ => None,
        };
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
