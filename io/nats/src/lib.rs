//! The link between a controller and its agents over a NATS broker.
//!
//! Both ends connect to the broker: [`NatsLink`] is the controller's end, [`NatsAgentLink`] the
//! agent's. Each has a thread with an async runtime, the only ones in the program. No load thread
//! runs there, and nothing outside this crate sees the runtime.
//!
//! # Why no streams of the broker
//!
//! The agent's spool is the record of a run, so the broker is transport only, by core NATS. The
//! state machines repeat what is lost, as they do over ssh. A stream (`JetStream`) would
//! acknowledge before its disk has the data, and keep a second copy that must be deleted. Without
//! it, a broker that is killed or loses its disk has nothing that a run needs.
//!
//! # Messages
//!
//! `wavetank.FLEET.agent.NAME.cmd` leads to an agent, `wavetank.FLEET.agent.NAME.report` away from
//! it. The broker's permissions tie an agent's key to these two subjects, so a name in a subject is
//! true. The headers say what a message is, see [`packet`]. A message above the broker's limit is
//! sent in parts. A lost part makes the whole message a lost one.
//!
//! A plan is not pushed: 100 agents times 256 MiB would be more than the broker buffers for a slow
//! reader, which it then cuts off. The offer names the plan's hash, and the agent requests pieces
//! of it, a few MiB ahead. Lost pieces are requested again, also after a lost connection.
//!
//! # Connections
//!
//! Each connection to the broker has a number. The first message of a new connection begins a new
//! session: the controller gives it its own `AgentId`, and the agent reports that a controller
//! connected. After a failure a new connection is made, for ever, with pauses up to 4 s. Messages
//! that waited for the old one are lost.

#[cfg(target_os = "linux")]
mod agent;
#[cfg(target_os = "linux")]
mod agent_side;
#[cfg(target_os = "linux")]
mod assembler;
#[cfg(target_os = "linux")]
mod broker;
#[cfg(target_os = "linux")]
mod broker_files;
#[cfg(target_os = "linux")]
mod broker_thread;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod controller;
#[cfg(target_os = "linux")]
mod controller_side;
#[cfg(target_os = "linux")]
mod key;
#[cfg(target_os = "linux")]
mod outbox;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(target_os = "linux")]
mod plan_fetch;
#[cfg(target_os = "linux")]
mod subjects;

#[cfg(target_os = "linux")]
pub use agent::NatsAgentLink;
#[cfg(target_os = "linux")]
pub use broker::{Broker, BrokerError};
#[cfg(target_os = "linux")]
pub use broker_files::{BrokerFiles, BrokerSetup};
#[cfg(target_os = "linux")]
pub use controller::NatsLink;
#[cfg(target_os = "linux")]
pub use key::{KeyError, NatsKey};
#[cfg(target_os = "linux")]
pub use subjects::Subjects;
