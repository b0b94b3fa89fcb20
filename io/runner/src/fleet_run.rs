//! [`FleetRun`]: the fleet of a run, connected before anything is planned.

use std::collections::BTreeMap;
use std::time::Duration;

use wavetank_driver::{Clock, Signals};
use wavetank_fleet::{AgentId, AgentMessage, AgentPayload, AgentState, Capabilities, LossPolicy, Member};
use wavetank_inventory::{Host, fold_hosts};
use wavetank_link::StreamEvent;
use wavetank_plan::{HostFacts, LoadOrigin, SourceOrder, SourcesPlan, parse_sources};
use wavetank_units::{Code, Nanos, UserError, sanitize};

use super::fleet_link::{FleetLink, FleetReach};
use super::host_error::host_error;
use super::shared_sources::check_sources_distinct;

/// Time limit for all agents to introduce themselves.
const GATHER_MAX: Nanos = Nanos::from_secs(30);
/// Attempts to reach a host before it counts as failed.
const ATTEMPTS: u32 = 2;
/// How long the wait for a message lasts before signals and deadlines are looked at.
const POLL_WAIT: Duration = Duration::from_millis(50);

/// The agents of a fleet, each with its connection.
pub struct FleetRun {
    /// The connections.
    pub(super) link: FleetLink,
    /// The agents by the order of their names, which are also those of their hosts.
    pub(super) agents: Vec<FleetAgent>,
    /// The agent of each connection.
    pub(super) connections: BTreeMap<AgentId, usize>,
    /// What the run tolerates.
    pub(super) tolerance: FleetTolerance,
}

/// What a run tolerates of its agents.
#[derive(Clone, Copy, Debug)]
pub struct FleetTolerance {
    /// What the loss of an agent under load means.
    pub on_loss: LossPolicy,
    /// Most that two agents may start apart.
    pub start: Nanos,
    /// How long agents send load without hearing the controller.
    pub lease: Nanos,
}

/// An agent that introduced itself.
pub(super) struct FleetAgent {
    /// Its host's name in the fleet file.
    pub(super) name: String,
    /// Its weight in the fleet file.
    pub(super) weight: Option<u64>,
    /// Its source addresses in the fleet file.
    sources: Option<SourcesPlan>,
    /// Its connection, with its first message.
    pub(super) hello: Option<(AgentId, AgentMessage)>,
    capabilities: Capabilities,
    /// Attempts that failed.
    failed: u32,
    /// Why it cannot take part.
    problem: Option<String>,
}

impl FleetRun {
    /// Connects to the agents of all `hosts`.
    ///
    /// # Errors
    /// If an agent cannot be reached, has another version or takes part in another run. All such
    /// agents are named. Two hosts with the same source address.
    pub fn connect(
        mut hosts: Vec<Host>,
        reach: FleetReach,
        tolerance: FleetTolerance,
    ) -> Result<Self, UserError> {
        let signals = Signals::listen().map_err(|errno| host_error("listen for signals", errno))?;
        hosts.sort_by(|one, other| one.name.cmp(&other.name));
        let agents = hosts.iter().map(FleetAgent::new).collect::<Result<Vec<_>, _>>()?;
        check_sources_distinct(
            agents.iter().filter_map(|agent| Some((agent.name.as_str(), agent.sources.as_ref()?))),
        )?;
        let link = FleetLink::start(hosts, reach)?;
        let mut fleet = Self { link, agents, connections: BTreeMap::new(), tolerance };
        fleet.gather(signals);
        fleet.check()?;
        Ok(fleet)
    }

    /// Waits until each agent has introduced itself or has failed.
    fn gather(&mut self, signals: Signals) {
        let clock = Clock::starting_now();
        while clock.now() < GATHER_MAX
            && signals.received() == 0
            && self.agents.iter().any(FleetAgent::is_open)
        {
            match self.link.receive(POLL_WAIT) {
                Some(StreamEvent::Connected { agent, host }) => drop(self.connections.insert(agent, host)),
                Some(StreamEvent::Frame { agent, frame }) => {
                    if let Some(host) = self.connections.get(&agent) {
                        self.agents[*host].handle_message(agent, frame.message);
                    }
                }
                Some(StreamEvent::OtherVersion { agent, found }) => {
                    if let Some(host) = self.connections.get(&agent) {
                        self.agents[*host].problem = Some(format!("its messages have version {found}"));
                    }
                }
                Some(
                    StreamEvent::Unreachable { host, reason }
                    | StreamEvent::Disconnected { host, reason, .. },
                ) => {
                    self.agents[host].fail(reason);
                }
                None => {}
            }
        }
    }

    /// Fails with all agents that cannot take part, those with the same reason together.
    fn check(&self) -> Result<(), UserError> {
        let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for agent in &self.agents {
            if let Some(reason) = agent.reason() {
                reasons.entry(reason).or_default().push(agent.name.clone());
            }
        }
        let errors = reasons.into_iter().map(|(reason, names)| {
            let message = format!("cannot use {}: {}", fold_hosts(&names), sanitize(reason));
            UserError::refused(Code::FleetUnreachable, message, hint_for(reason))
        });
        UserError::combine(errors.collect()).map_or(Ok(()), Err)
    }

    /// Returns the members for the controller.
    pub(super) fn members(&self) -> Vec<Member> {
        let member = |agent: &FleetAgent| Member { name: agent.name.clone(), weight: agent.weight };
        self.agents.iter().map(member).collect()
    }

    /// Returns the source addresses of agents that have their own.
    pub(super) fn sources(&self) -> Vec<(String, SourcesPlan)> {
        let own = |agent: &FleetAgent| Some((agent.name.clone(), agent.sources.clone()?));
        self.agents.iter().filter_map(own).collect()
    }

    /// Gives each agent its own source addresses, as `sources` returns them for its name.
    pub(super) fn set_sources(&mut self, sources: impl Fn(&str) -> Option<SourcesPlan>) {
        for agent in &mut self.agents {
            agent.sources = sources(&agent.name);
        }
    }

    /// `facts` of this host as those of all agents together.
    pub(crate) fn facts(&self, facts: HostFacts) -> HostFacts {
        let hosts = u32::try_from(self.agents.len()).unwrap_or(u32::MAX);
        let files: u64 = self.agents.iter().map(|agent| agent.capabilities.files).sum();
        let memory_available_bytes = facts.memory_available_bytes.saturating_mul(u64::from(hosts));
        HostFacts {
            files_max: files.max(facts.files_max),
            memory_available_bytes,
            origin: LoadOrigin::Fleet { hosts },
            agent_hosts: self.agents.iter().map(|agent| agent.name.clone()).collect(),
            ..facts
        }
    }
}

/// What remedies `reason`.
fn hint_for(reason: &str) -> &'static str {
    if reason.contains("another run") {
        "wait for its end: wavetank fleet status --fleet FILE; or use --without HOST"
    } else if reason.contains("broker") {
        "start it: nats-server -c DIR/nats-server.conf, with DIR of wavetank fleet broker init"
    } else {
        "start the agents: wavetank fleet up --fleet FILE; or leave hosts out: --without HOST"
    }
}

impl FleetAgent {
    fn new(host: &Host) -> Result<Self, UserError> {
        let ranges = host.sources.as_deref().map(parse_sources).transpose()?;
        let sources = ranges.map(|ranges| SourcesPlan { ranges, order: SourceOrder::InTurn });
        Ok(Self {
            name: host.name.clone(),
            weight: host.weight.map(u64::from),
            sources,
            hello: None,
            capabilities: Capabilities::default(),
            failed: 0,
            problem: None,
        })
    }

    /// CPUs that it may use.
    pub(super) const fn cores(&self) -> u32 {
        self.capabilities.cores
    }

    /// Whether it may still introduce itself.
    const fn is_open(&self) -> bool {
        self.hello.is_none() && self.problem.is_none()
    }

    fn handle_message(&mut self, connection: AgentId, message: AgentMessage) {
        let AgentPayload::Hello(hello) = &message.report else { return };
        if hello.version != env!("CARGO_PKG_VERSION") {
            self.problem = Some(format!("it has version {}", hello.version));
        } else if hello.name != self.name {
            self.problem = Some(format!("its agent calls itself {}", hello.name));
        } else if !matches!(hello.state, AgentState::Idle | AgentState::Sealed) {
            self.problem = Some("it takes part in another run".to_owned());
        }
        self.capabilities = hello.capabilities;
        self.hello = Some((connection, message));
    }

    fn fail(&mut self, reason: String) {
        self.failed += 1;
        if self.failed >= ATTEMPTS && self.hello.is_none() {
            self.problem = Some(reason);
        }
    }

    /// Returns why it cannot take part.
    fn reason(&self) -> Option<&str> {
        let silent = || self.hello.is_none().then_some("its agent has not reported in time");
        self.problem.as_deref().or_else(silent)
    }
}
