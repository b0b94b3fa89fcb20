//! Transports between a controller and its agents.
//!
//! The only one so far is [`in_process`]: bounded channels inside one process. It serves runs on
//! one host (a fleet of one) and simulations of larger fleets. A link may lose messages, because
//! the state machines of `wavetank-fleet` repeat those that matter. A sender therefore never waits,
//! which matters most for an agent with load to send.

mod in_process;

pub use in_process::{AgentLink, Closed, ControllerLink, in_process};
