//! Transports between a controller and its agents.
//!
//! [`in_process`] connects the two ends inside one process, by bounded channels. It serves runs on
//! one host (a fleet of one) and simulations of larger fleets.
//!
//! Between hosts the messages are lines of a byte stream. An agent listens on a Unix socket in its
//! folder ([`AgentListener`]). The controller starts a process for each host, such as ssh, which
//! copies bytes between its standard input and output and that socket ([`StreamLink`], [`bridge`]).
//! [`HelloSocket`] answers with the agent's greeting without taking the place of its controller.
//!
//! A link may lose messages, because the state machines of `wavetank-fleet` repeat those that
//! matter. A sender therefore never waits, which matters most for an agent with load to send.

#[cfg(target_os = "linux")]
mod agent_connection;
#[cfg(target_os = "linux")]
mod agent_listener;
#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod hello_socket;
mod in_process;
mod limits;
#[cfg(target_os = "linux")]
mod line_splitter;
#[cfg(target_os = "linux")]
mod logins;
#[cfg(target_os = "linux")]
mod private_socket;
#[cfg(target_os = "linux")]
mod queue;
#[cfg(target_os = "linux")]
mod stop;
#[cfg(target_os = "linux")]
mod stream_host;
#[cfg(target_os = "linux")]
mod stream_link;
#[cfg(target_os = "linux")]
mod writer;

#[cfg(target_os = "linux")]
pub use agent_listener::{AgentLinkEvent, AgentListener, AgentWaker};
#[cfg(target_os = "linux")]
pub use bridge::{BridgeError, bridge};
#[cfg(target_os = "linux")]
pub use hello_socket::{HelloSocket, read_hello};
pub use in_process::{AgentLink, Closed, ControllerLink, in_process};
pub use limits::{AGENT_LINE_BYTES_MAX, CONTROLLER_LINE_BYTES_MAX, INTERVAL_BYTES_MAX};
#[cfg(target_os = "linux")]
pub use private_socket::{BindError, accept, bind_private, create_private};
#[cfg(target_os = "linux")]
pub use queue::{NotQueued, Queue};
#[cfg(target_os = "linux")]
pub use stop::Stop;
#[cfg(target_os = "linux")]
pub use stream_link::{HostFailure, StreamEvent, StreamHost, StreamLink};
