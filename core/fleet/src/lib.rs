//! Controller and agents as pure state machines.
//!
//! A run on one host is a fleet with one agent: the same two machines, joined by a link inside the
//! process. [`Controller`] owns the run and decides when it starts. [`Agent`] carries out a share
//! of it and stops by itself when the controller falls silent.
//!
//! Both only make decisions. Their inputs are messages, reports of their host and the time; their
//! outputs are messages to send and actions to take. This crate contains no sockets, threads or
//! clock, and no results: intervals are numbers here, and their data travels separately (first to
//! the agent's spool).
//!
//! An agent goes through the states idle → prepared → committed → running → draining → sealed.
//! Commands are numbered, repeated until answered, and belong to an epoch.
//!
//! ```
//! use wavetank_fleet::{
//!     Agent, AgentAction, AgentId, AgentState, Controller, ControllerAction, ControllerNotice,
//!     RunSetup,
//! };
//! use wavetank_pace::Partition;
//! use wavetank_plan::Nanos;
//!
//! let mut now = Nanos::ZERO; // The host's clock.
//! let setup = RunSetup { shares: vec![Partition::WHOLE], ..RunSetup::new(1, "plan hash") };
//! let (mut controller, mut agent) = (Controller::new(setup, now), Agent::new());
//! let mut intervals = 0;
//! let outcome = 'run: loop {
//!     // 1. Deliver what is to be sent, and act.
//!     let mut idle = true;
//!     while let Some(action) = controller.poll() {
//!         idle = false;
//!         match action {
//!             ControllerAction::Send { message, .. } => agent.handle_message(message, now),
//!             ControllerAction::Notify(ControllerNotice::Over(outcome)) => break 'run outcome,
//!             ControllerAction::Notify(_) => {} // Events for the archive and the terminal.
//!         }
//!     }
//!     while let Some(action) = agent.poll() {
//!         idle = false;
//!         match action {
//!             AgentAction::Send(message) => controller.handle_message(AgentId(0), message, now),
//!             // Here the host starts its load threads …
//!             AgentAction::Prepare { .. } => agent.handle_prepared(Ok(()), now),
//!             AgentAction::StartAt(_) | AgentAction::Change { .. } => {}
//!             AgentAction::Drain | AgentAction::Stop => agent.handle_finished(now),
//!         }
//!     }
//!     // 2. … and passes on their reports: here, three sealed intervals and the end of the plan.
//!     if agent.state() == AgentState::Running {
//!         if intervals < 3 {
//!             agent.handle_sealed(intervals, now);
//!             intervals += 1;
//!         } else {
//!             agent.handle_finished(now);
//!         }
//!     }
//!     // 3. Wait for an event, at most until the earlier of the two timeouts.
//!     if idle {
//!         let timeouts = [controller.poll_timeout(), agent.poll_timeout()];
//!         now = timeouts.into_iter().flatten().min().unwrap();
//!         controller.handle_timeout(now);
//!         agent.handle_timeout(now);
//!     }
//! };
//! assert!(outcome.is_complete());
//! assert_eq!(outcome.agents[0].intervals, 3);
//! ```

mod action;
mod agent;
pub mod constants;
mod controller;
mod message;
mod outcome;
mod peer;

pub use action::{AgentAction, ControllerAction, ControllerNotice};
pub use agent::Agent;
pub use controller::{ChangeRefused, Controller, RunSetup};
pub use message::{
    AgentId, AgentMessage, AgentPayload, AgentState, Change, Command, ControllerMessage, ControllerPayload,
    EndCause, RefusalReason,
};
pub use outcome::{AgentEnd, AgentOutcome, Outcome};
