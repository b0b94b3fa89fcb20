//! Controller and agents as pure state machines.
//!
//! [`Controller`] owns a run and decides when it starts. [`Agent`] carries out a share of it and
//! stops by itself when the controller falls silent. A run on one host is a fleet with one agent:
//! the same two machines, joined by a link inside the process.
//!
//! Both only make decisions. Their inputs are messages, reports of their host and the time; their
//! outputs are messages to send and actions to take. This crate contains no sockets, threads or
//! clock, and no results: intervals are numbers here, and their data travels separately (first to
//! the agent's spool).
//!
//! An agent introduces itself and is offered an exact share. When all are prepared and the offsets
//! of their clocks are known, the controller commits the run to one instant. Agents go through the
//! states idle → prepared → committed → running → draining → sealed. Commands are numbered,
//! repeated until answered, and belong to a run and an epoch. Intervals go to an agent's spool
//! first, which is deleted when the archive is durable.
//!
//! A link may lose, repeat, delay and reorder messages. It gives each connection of an agent a
//! number ([`AgentId`]), attaches plans and intervals (see [`wire`]), and calls
//! [`Agent::handle_connected`] when a connection is made.
//!
//! ```
//! use wavetank_fleet::{
//!     Agent, AgentAction, AgentId, AgentSetup, AgentState, Controller, ControllerAction,
//!     ControllerNotice, RunSetup,
//! };
//! use wavetank_units::Nanos;
//!
//! let mut now = Nanos::ZERO; // The host's clock.
//! let mut controller = Controller::new(RunSetup::new(1, "0.1.0", "plan hash"), now);
//! let mut agent = Agent::new(AgentSetup::local("0.1.0"), now);
//! agent.handle_connected(now);
//! let mut intervals = 0;
//! let outcome = 'run: loop {
//!     // 1. Deliver what is to be sent, and act.
//!     let mut idle = true;
//!     while let Some(action) = controller.poll() {
//!         idle = false;
//!         match action {
//!             ControllerAction::Send { message, .. } => agent.handle_message(message, now),
//!             ControllerAction::Notify(ControllerNotice::Over(outcome)) => break 'run outcome,
//!             // Events for the archive and the terminal, records for the journal.
//!             ControllerAction::Notify(_) | ControllerAction::Journal(_) => {}
//!             ControllerAction::Archive(_) => unreachable!("there are no spools"),
//!         }
//!     }
//!     while let Some(action) = agent.poll() {
//!         idle = false;
//!         match action {
//!             AgentAction::Send(message) => controller.handle_message(AgentId(0), message, now),
//!             // Here the host starts its load threads …
//!             AgentAction::Prepare { plan_hash, .. } => agent.handle_prepared(Ok(plan_hash), now),
//!             AgentAction::Drain | AgentAction::Stop => agent.handle_finished("", now),
//!             _ => {}
//!         }
//!     }
//!     // 2. … and passes on their reports: here, three sealed intervals and the end of the plan.
//!     if agent.state() == AgentState::Running {
//!         if intervals < 3 {
//!             agent.handle_sealed(intervals, now);
//!             intervals += 1;
//!         } else {
//!             agent.handle_finished("", now);
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
mod clock_offset;
pub mod constants;
mod controller;
mod hello;
mod interval_seals;
mod journal;
mod message;
mod outcome;
mod peer;
mod rendezvous;
mod run_setup;
mod shares;
pub mod wire;
mod wire_values;

pub use action::{AgentAction, ControllerAction, ControllerNotice};
pub use agent::{Agent, AgentSetup, FoundSpool};
pub use controller::{AgentView, ArchivedIntervals, ChangeRefused, Controller};
pub use hello::{Capabilities, DenialReason, Hello, Identity};
pub use journal::{JournalAgent, JournalRecord, RunHistory};
pub use message::{
    Adjustments, AgentId, AgentMessage, AgentPayload, AgentState, Change, Command, ControllerMessage,
    ControllerPayload, Done, EndCause, RefusalReason, RunId,
};
pub use outcome::{AgentEnd, AgentOutcome, FleetStatus, Loss, Outcome, StartProblem, StartRefusal};
pub use rendezvous::{PhaseUsers, Quorum, Release, WaitingUsers};
pub use run_setup::{Clocks, LossPolicy, Member, Members, RunSetup};
