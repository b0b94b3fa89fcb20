//! [`AgentService`]: the agent of a load host.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_fleet::wire::AgentFrame;
use wavetank_fleet::{
    Agent, AgentAction, AgentMessage, AgentPayload, AgentSetup, AgentState, Capabilities, EndCause, Identity,
    RunId,
};
use wavetank_link::{AgentLinkEvent, HelloSocket};
use wavetank_nats::Broker;
use wavetank_observe::{host_facts, raise_file_limit};
use wavetank_pace::Partition;
use wavetank_plan::Guard;
use wavetank_store::{CalibrationFile, Spool, SpoolMeta};
use wavetank_units::{AllowTarget, Code, Nanos, UserError};

use super::agent_links::AgentLinks;
use super::agent_run::AgentRun;

/// Folder of the spools of unsettled runs, in the folder of an agent.
pub const AGENT_SPOOLS: &str = "spools";
/// How often an agent looks for what other commands changed in its folder.
const LOOK_EVERY: Nanos = Nanos::from_secs(1);
/// File that `wavetank fleet calibrate` writes.
const CALIBRATION_FILE: &str = "calibration.json";
/// Longest wait for load threads, during which no message is heard.
const LOAD_WAIT_MAX: Duration = Duration::from_millis(5);
/// Longest wait for a message. A signal is noticed after it at the latest.
const TURN_MAX: Nanos = Nanos::from_millis(200);

/// What an agent is given when it starts.
pub struct AgentOptions {
    /// Its folder, with its socket and spools.
    pub dir: PathBuf,
    /// Its name, unique in its fleet.
    pub name: String,
    /// Targets that it may load.
    pub allow: Vec<AllowTarget>,
    /// A broker over which controllers reach it in addition.
    pub broker: Option<Broker>,
}

/// The agent of this host: its state machine, its link, and what it carries out.
pub struct AgentService<'a> {
    /// Receives a line for everything that a person may want to know later.
    log: &'a dyn Fn(&str),
    agent: Agent,
    identity: Identity,
    links: AgentLinks,
    hello: HelloSocket,
    /// State and run of the greeting that the socket has.
    greeted: (AgentState, RunId),
    clock: Clock,
    folder: PathBuf,
    /// Decides over targets, whatever a controller says.
    guard: Guard,
    /// The package that came with the last offer.
    package: Option<Arc<str>>,
    /// The run that it takes part in.
    run: Option<AgentRun>,
    /// When the folder is looked at again.
    look_due: Nanos,
    /// The spool of a run that an earlier process of this agent took part in.
    found: Option<Spool>,
}

impl<'a> AgentService<'a> {
    /// Listens in its folder, and connects to its broker if it has one.
    ///
    /// # Errors
    /// A folder, a socket or a broker that cannot be used.
    pub fn start(options: AgentOptions, log: &'a dyn Fn(&str)) -> Result<Self, UserError> {
        let AgentOptions { dir, name, allow, broker } = options;
        let failed = |reason: &dyn std::fmt::Display| agent_not_started(&dir, reason);
        let instance = getrandom::u64().map_err(|error| failed(&error))?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let identity = Identity { version, name, instance, capabilities: capabilities(&dir) };
        let clock = Clock::starting_now();
        let setup = setup(&identity);
        // The last run is the one that a controller may still settle.
        let spools = Spool::find(&dir.join(AGENT_SPOOLS)).map_err(|error| failed(&error))?;
        let last = spools.into_iter().max_by_key(|file| file.found.epoch);
        let (agent, found) = match last {
            Some(file) => (Agent::recover(setup, file.found, clock.now()), Some(file.spool)),
            None => (Agent::new(setup, clock.now()), None),
        };
        let greeted = (agent.state(), agent.run().0);
        let hello = HelloSocket::bind(&dir, &greeting(&identity, &agent)).map_err(|error| failed(&error))?;
        let links = AgentLinks::open(&dir, broker, &identity.name, failed)?;
        let guard = Guard::of_agent(allow);
        let (package, run, look_due) = (None, None, Nanos::ZERO);
        Ok(Self {
            log,
            agent,
            identity,
            links,
            hello,
            greeted,
            clock,
            folder: dir,
            guard,
            package,
            run,
            look_due,
            found,
        })
    }

    /// Waits for a message or for what the state machine is to do next, and acts on it.
    pub fn turn(&mut self) {
        let now = self.clock.now();
        let due = self.agent.poll_timeout().map_or(TURN_MAX, |at| (at - now).clamp(Nanos::ZERO, TURN_MAX));
        let has_load = self.run.as_ref().is_some_and(AgentRun::has_threads);
        let mut wait = if has_load { Duration::ZERO } else { Duration::from_nanos(due.0.unsigned_abs()) };
        while let Some(event) = self.links.receive(wait) {
            self.handle_event(event);
            self.act();
            wait = Duration::ZERO;
        }
        if let Some(run) = &mut self.run {
            run.turn(LOAD_WAIT_MAX, &mut self.agent);
        }
        let now = self.clock.now();
        if self.agent.poll_timeout().is_some_and(|at| at <= now) {
            self.agent.handle_timeout(now);
        }
        self.act();
        if self.run.is_some() && self.agent.end_cause() == Some(EndCause::NotStarted) {
            // No archive will ask for its intervals.
            self.delete_spool("the run was not started");
        }
        self.refresh_greeting();
    }

    fn handle_event(&mut self, event: AgentLinkEvent) {
        match event {
            AgentLinkEvent::Connected => {
                self.log("a controller connected");
                self.free_if_settled();
                self.agent.handle_connected(self.clock.now());
            }
            AgentLinkEvent::Frame(frame) => {
                if frame.plan.is_some() {
                    self.package = frame.plan;
                }
                self.agent.handle_message(frame.message, self.clock.now());
            }
            AgentLinkEvent::OtherVersion { found } => {
                self.log(&format!("a message of version {found} is ignored"));
            }
            AgentLinkEvent::Disconnected { reason } => {
                self.log(&format!("the controller disconnected: {reason}"));
                self.free_if_settled();
            }
        }
    }

    /// A run that is settled is over: from now on another controller may have this agent.
    fn free_if_settled(&mut self) {
        if self.agent.is_settled() {
            self.agent = Agent::new(setup(&self.identity), self.clock.now());
        }
    }

    /// The spool of a run that is over was fetched and deleted: another controller may have this
    /// agent.
    fn free_if_fetched(&mut self) {
        let spool = self.run.as_ref().map(AgentRun::spool).or(self.found.as_ref());
        let is_gone = spool.is_some_and(|spool| !spool.path().exists());
        if is_gone && self.agent.state() == AgentState::Sealed {
            (self.run, self.found) = (None, None);
            self.agent = Agent::new(setup(&self.identity), self.clock.now());
            self.log("the intervals of the last run were fetched");
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
            AgentAction::Prepare { plan_hash, share } => self.prepare(plan_hash, share),
            AgentAction::Denied(reason) => self.log(&format!("the controller denied this agent: {reason}")),
            AgentAction::DeleteSpool => self.delete_spool("the run is settled"),
            action => match &mut self.run {
                Some(run) => drop(run.execute(action, &mut self.agent)),
                // The offer was refused, so there is no load to end.
                None => self.agent.handle_finished("", self.clock.now()),
            },
        }
    }

    /// Prepares this host for its share of an offered plan.
    fn prepare(&mut self, plan_hash: String, share: Partition) {
        let (run, epoch) = self.agent.run();
        // The load of an earlier run has ended. Its spool stays in its file until it is settled.
        (self.run, self.found) = (None, None);
        let meta = SpoolMeta { run, epoch, plan_hash, share, agent: self.identity.name.clone() };
        let spools = self.folder.join(AGENT_SPOOLS);
        let prepared = match &self.package {
            Some(package) => AgentRun::prepare(package, meta, &spools, (&self.guard, self.clock)),
            None => Err(vec!["the offer came without its plan".to_owned()]),
        };
        let Partition { width, of, .. } = share;
        match prepared {
            Ok(mut run) => {
                self.log(&format!("run {}: prepares a share of {width} of {of}", run.id()));
                run.start_threads(share, &mut self.agent);
                self.run = Some(run);
            }
            Err(lines) => {
                self.log(&format!("refuses an offer: {}", lines.join("; ")));
                self.agent.handle_prepared(Err(lines), self.clock.now());
            }
        }
    }

    /// The intervals of the run are not needed any more, for the reason `why`.
    fn delete_spool(&mut self, why: &str) {
        let problem = match (self.run.take(), self.found.take()) {
            (Some(run), _) => run.delete_spool(),
            (None, Some(spool)) => spool.delete().err().map(|problem| problem.to_string()),
            (None, None) => None,
        };
        self.log(problem.as_deref().unwrap_or(why));
    }

    /// Sends a message, an interval with its line. A message that cannot be sent is repeated by the
    /// state machine.
    fn send(&self, message: AgentMessage) {
        let interval = match message.report {
            AgentPayload::Sealed { seq } => match (&self.run, &self.found) {
                (Some(run), _) => run.line(seq),
                (None, Some(spool)) => spool.line(seq),
                (None, None) => None,
            },
            _ => None,
        };
        let _ = self.links.send(AgentFrame { message, interval });
    }

    /// Notices fetched intervals, and takes over a new calibration while no run needs the former
    /// one.
    fn look_into_folder(&mut self) {
        let now = self.clock.now();
        if now < self.look_due {
            return;
        }
        self.look_due = now.after(LOOK_EVERY);
        self.free_if_fetched();
        let is_free = (self.agent.state(), self.agent.run().0) == (AgentState::Idle, RunId::NONE);
        if !is_free {
            return;
        }
        let found = calibration(&self.folder);
        if std::mem::replace(&mut self.identity.capabilities.calibration, found) != found {
            self.agent = Agent::new(setup(&self.identity), now);
            self.hello.set(&greeting(&self.identity, &self.agent));
        }
    }

    /// Gives the state to those who only look.
    fn refresh_greeting(&mut self) {
        self.look_into_folder();
        let state = (self.agent.state(), self.agent.run().0);
        if std::mem::replace(&mut self.greeted, state) != state {
            self.hello.set(&greeting(&self.identity, &self.agent));
        }
    }

    fn log(&self, line: &str) {
        (self.log)(line);
    }
}

/// The error of an agent that cannot start, because of `place`.
pub fn agent_not_started(place: &Path, reason: &dyn std::fmt::Display) -> UserError {
    UserError::refused(
        Code::AgentNotStarted,
        format!("cannot start the agent: {}: {reason}", place.display()),
        "use another folder: --dir DIR",
    )
}

/// Returns the settings of the agent's state machine.
fn setup(identity: &Identity) -> AgentSetup {
    AgentSetup { identity: identity.clone(), shares_process: false, spools: true }
}

/// Returns the message by which the agent introduces itself now.
fn greeting(identity: &Identity, agent: &Agent) -> AgentMessage {
    let (run, epoch) = agent.run();
    AgentMessage { run, epoch, report: AgentPayload::Hello(identity.hello(agent.state())) }
}

/// Reads what this host can do.
fn capabilities(folder: &Path) -> Capabilities {
    let facts = host_facts();
    let files = raise_file_limit().unwrap_or(facts.files_max);
    Capabilities {
        cores: u32::try_from(facts.cpus.len()).unwrap_or(u32::MAX),
        files,
        ports: facts.ports.count(),
        calibration: calibration(folder),
        rebalance: true,
    }
}

/// Requests per second that `wavetank fleet calibrate` measured on this host. A file that cannot be
/// read counts as none.
fn calibration(folder: &Path) -> Option<u64> {
    let measured = CalibrationFile::new(folder.join(CALIBRATION_FILE)).read().ok()??;
    let last = measured.calibrations.iter().max_by_key(|one| one.measured_at_s)?;
    Some(last.open_per_s.0 as u64)
}
