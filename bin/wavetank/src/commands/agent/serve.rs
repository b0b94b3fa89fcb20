//! `wavetank agent serve`: the agent of a load host.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::{Clock, Signals};
use wavetank_fleet::wire::AgentFrame;
use wavetank_fleet::{
    Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, Identity, RunId,
};
use wavetank_link::{AgentLinkEvent, AgentListener, HelloSocket};
use wavetank_observe::{host_facts, raise_file_limit};
use wavetank_units::{AllowTarget, Nanos, UserError, sanitize};

use super::agent_lock::AgentLock;
use crate::cli::AgentServeArgs;
use crate::run::host_error;

/// File with the number of the agent's process.
const PID_FILE: &str = "agent.pid";
/// Longest wait for a message. A signal is noticed after it at the latest.
const TURN_MAX: Nanos = Nanos::from_millis(200);

/// Runs an agent until SIGTERM or SIGINT.
pub(super) fn serve(args: AgentServeArgs) -> Result<(), UserError> {
    let signals = Signals::listen().map_err(|errno| host_error("handle signals", errno))?;
    let folder = args.dir.clone();
    let lock = AgentLock::take(&folder).map_err(|error| not_started(&folder, &error))?;
    let Some(_lock) = lock else {
        return Err(not_started(&folder, &"another agent has this folder"));
    };
    let mut service = AgentService::start(args)?;
    let pid_file = folder.join(PID_FILE);
    let number = format!("{}\n", std::process::id());
    std::fs::write(&pid_file, number).map_err(|error| not_started(&pid_file, &error))?;
    service.log(&format!("{} listens in {}", service.identity.name, folder.display()));
    while signals.received() == 0 {
        service.turn();
    }
    service.log("the agent ends");
    // The lock says who is the agent, so a file that remains does no harm.
    let _ = std::fs::remove_file(pid_file);
    Ok(())
}

fn not_started(place: &Path, reason: &dyn std::fmt::Display) -> UserError {
    UserError::refused(
        "agent_not_started",
        format!("cannot start the agent: {}: {reason}", place.display()),
        "use another folder: --dir DIR",
    )
}

/// The agent of this host: its state machine, its link, and what it carries out.
pub(super) struct AgentService {
    agent: Agent,
    identity: Identity,
    listener: AgentListener,
    hello: HelloSocket,
    /// State and run of the greeting that the socket has.
    greeted: (AgentState, RunId),
    clock: Clock,
    #[expect(dead_code, reason = "load threads are not connected yet")]
    folder: PathBuf,
    #[expect(dead_code, reason = "load threads are not connected yet")]
    allow: Vec<AllowTarget>,
    /// The plan that came with the last offer.
    plan: Option<Arc<str>>,
}

impl AgentService {
    /// Listens in the folder of `args`.
    fn start(args: AgentServeArgs) -> Result<Self, UserError> {
        let AgentServeArgs { dir, name, allow } = args;
        let failed = |reason: &dyn std::fmt::Display| not_started(&dir, reason);
        let instance = getrandom::u64().map_err(|error| failed(&error))?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let identity = Identity { version, name, instance, capabilities: capabilities() };
        let clock = Clock::starting_now();
        let setup = AgentSetup { identity: identity.clone(), shares_process: false, spools: false };
        let agent = Agent::new(setup, clock.now());
        let greeted = (agent.state(), agent.run().0);
        let hello = HelloSocket::bind(&dir, &greeting(&identity, &agent)).map_err(|error| failed(&error))?;
        let listener = AgentListener::bind(&dir).map_err(|error| failed(&error))?;
        Ok(Self { agent, identity, listener, hello, greeted, clock, folder: dir, allow, plan: None })
    }

    /// Waits for a message or for what the state machine is to do next, and acts on it.
    fn turn(&mut self) {
        let now = self.clock.now();
        let due = self.agent.poll_timeout().map_or(TURN_MAX, |at| (at - now).clamp(Nanos::ZERO, TURN_MAX));
        let mut wait = Duration::from_nanos(due.0.unsigned_abs());
        while let Some(event) = self.listener.receive(wait) {
            self.handle_event(event);
            self.act();
            wait = Duration::ZERO;
        }
        let now = self.clock.now();
        if self.agent.poll_timeout().is_some_and(|at| at <= now) {
            self.agent.handle_timeout(now);
        }
        self.act();
        self.refresh_greeting();
    }

    fn handle_event(&mut self, event: AgentLinkEvent) {
        match event {
            AgentLinkEvent::Connected => {
                self.log("a controller connected");
                self.agent.handle_connected(self.clock.now());
            }
            AgentLinkEvent::Frame(frame) => {
                if frame.plan.is_some() {
                    self.plan = frame.plan;
                }
                self.agent.handle_message(frame.message, self.clock.now());
            }
            AgentLinkEvent::OtherVersion { found } => {
                self.log(&format!("a message of version {found} is ignored"));
            }
            AgentLinkEvent::Disconnected { reason } => {
                self.log(&format!("the controller disconnected: {reason}"));
            }
        }
    }

    fn act(&mut self) {
        while let Some(action) = self.agent.poll() {
            self.handle_action(action);
        }
    }

    /// Carries out a decision of the state machine.
    fn handle_action(&mut self, action: AgentAction) {
        match action {
            AgentAction::Send(message) => self.send(message),
            AgentAction::Prepare { .. } => {
                self.plan = None;
                let lines = vec!["this agent cannot run load yet".to_owned()];
                self.agent.handle_prepared(Err(lines), self.clock.now());
            }
            AgentAction::Denied(reason) => self.log(&format!("the controller denied this agent: {reason}")),
            AgentAction::Drain | AgentAction::Stop => self.agent.handle_finished("", self.clock.now()),
            // Without an accepted offer there is no load and no spool.
            AgentAction::StartAt(_)
            | AgentAction::Change { .. }
            | AgentAction::Rebalance { .. }
            | AgentAction::DeleteSpool => {}
        }
    }

    /// A message that cannot be sent is repeated by the state machine.
    fn send(&self, message: AgentMessage) {
        let _ = self.listener.send(AgentFrame { message, interval: None });
    }

    /// Gives the state to those who only look.
    fn refresh_greeting(&mut self) {
        let state = (self.agent.state(), self.agent.run().0);
        if std::mem::replace(&mut self.greeted, state) != state {
            self.hello.set(&greeting(&self.identity, &self.agent));
        }
    }

    /// Writes a line to standard error, which is the agent's log.
    #[expect(clippy::unused_self, reason = "only an agent has a log")]
    fn log(&self, line: &str) {
        // Without standard error the agent goes on.
        let _ = writeln!(std::io::stderr(), "agent: {}", sanitize(line));
    }
}

/// Returns the message by which the agent introduces itself now.
fn greeting(identity: &Identity, agent: &Agent) -> AgentMessage {
    let (run, epoch) = agent.run();
    AgentMessage { run, epoch, report: AgentPayload::Hello(identity.hello(agent.state())) }
}

/// Reads what this host can do.
fn capabilities() -> Capabilities {
    let facts = host_facts();
    let files = raise_file_limit().unwrap_or(facts.files_max);
    Capabilities {
        cores: u32::try_from(facts.cpus.len()).unwrap_or(u32::MAX),
        files,
        ports: facts.ports.count(),
        calibration: None,
        rebalance: false,
    }
}
