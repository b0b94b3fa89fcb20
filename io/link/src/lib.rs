//! Transports between a controller and its agents.
//!
//! So far one: [`in_process`], bounded channels inside one process, for a run on one host (a fleet of
//! one) and for rehearsing larger fleets. A link may lose messages: the machines of `wavetank-fleet` repeat
//! what matters. So no sender ever waits, least of all one with load to send.

mod in_process;

pub use in_process::{AgentLink, Closed, ControllerLink, in_process};
