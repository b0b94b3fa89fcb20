//! [`LabRun`]: a run with load from hosts of a lab.
//!
//! The process enters the first of them before anything else of the run happens. There the host is
//! inspected, names are resolved, and everything is sent that is not load. Load threads enter their
//! hosts when they are created.

use std::cell::OnceCell;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use wavetank_driver::{NetworkNamespace, WallClock, bind_probe};
use wavetank_engine::{LoadNamespace, SourcePorts};
use wavetank_lab::{Client, HostHandle, LabFolder, LabState, LabStatus, LogOffsets, LogParts, versioned};
use wavetank_observe::{HostQuota, HostSampler, host_facts, route_sources};
use wavetank_plan::{HostFacts, LoadOrigin, Plan, SourceOrder, SourcesPlan, Subject, matches_host};
use wavetank_record::{LabDoc, LabHostDoc};
use wavetank_topology::{Host, Interface, Lab, Role, Service, ServiceKind, planned_events};
use wavetank_units::{Code, Sentence, SourceRange, UserError, did_you_mean, phrase, sentence};

use super::LabServer;
use super::event_runner::{EventExecutor, LabEventExecutor};
use super::fleet_run::FleetTolerance;
use super::lab_agents::LabAgents;
use super::server_counts::{ServerCounts, only_forwards, takes_load};

/// Name of this host in every archive.
const THIS_HOST: &str = "local";

/// After this wait for a lab, a message is printed.
const AT_ONCE: Duration = Duration::from_secs(1);

/// See the module's description.
pub struct LabRun {
    pub(super) lab: Lab,
    pub(super) folder: LabFolder,
    state: LabState,
    doc: LabDoc,
    pub(super) load_hosts: Vec<LoadHost>,
    /// Offsets in the services' logs of lines that no archive has yet.
    logs: Mutex<LogOffsets>,
    /// What the run tolerates of the agents on the load hosts, if they send its load.
    pub(super) by_agents: Option<FleetTolerance>,
    /// Those agents, once they are started.
    pub(super) agents: OnceCell<LabAgents>,
    /// While it exists, no other run can use the lab.
    _client: Client,
}

/// A host that sends.
pub(super) struct LoadHost {
    pub(super) name: String,
    network: NetworkNamespace,
    /// What is so in its network.
    pub(super) facts: HostFacts,
    cpus: Vec<u32>,
}

impl LabRun {
    /// Starts a run in the lab that is up in `folder`. This process, which must have one thread,
    /// moves into the network of its first load host and uses its names. `own`: the lab was brought
    /// up for this run, so all service logs belong to it. `wait` is called if the lab is not
    /// available immediately.
    ///
    /// # Errors
    /// A lab that is not up, that another run uses, or that has no load host.
    pub fn begin(folder: &LabFolder, own: bool, wait: impl FnOnce()) -> Result<Self, UserError> {
        let (state, lab) = (folder.state()?, folder.order()?.lab);
        let mut client = Client::connect(folder)?;
        client.ask_polling(&json!({ "ask": "run" }), AT_ONCE, wait)?;
        if let Some(dead) = state.hosts.iter().find(|host| host.process.marked(&state.mark).is_none()) {
            let message = format!("the process of host {} has ended", dead.name);
            let hint = format!("wavetank lab down --lab {}, then up again", folder.name());
            return Err(UserError::refused(Code::LabHostDead, message, hint));
        }
        let first = first_load_host(&lab)?;
        let names: Vec<String> = lab.load_hosts().map(|index| lab.hosts[index].name.clone()).collect();
        let doc = doc(&lab, folder);
        wavetank_lab::enter_network(folder, &first)?;
        let mut load_hosts = Vec::with_capacity(names.len());
        for name in names {
            let network = NetworkNamespace::new(HostHandle::to(folder, &name)?.net_namespace()?);
            let facts = inside(&network, host_facts)?;
            let cpus = lab.host(&name).and_then(|host| host.limits.cpus.clone()).unwrap_or_default();
            load_hosts.push(LoadHost { name, network, facts, cpus });
        }
        let logs =
            Mutex::new(if own { LogOffsets::default() } else { LogOffsets::now(folder, names_of(&lab)) });
        let (by_agents, agents) = (None, OnceCell::new());
        let folder = folder.clone();
        Ok(Self { lab, folder, state, doc, load_hosts, logs, by_agents, agents, _client: client })
    }

    /// The same, with the load sent by an agent on each load host if `tolerance` is given.
    #[must_use]
    pub fn by_agents(self, tolerance: Option<FleetTolerance>) -> Self {
        Self { by_agents: tolerance, ..self }
    }

    /// What services wrote since the run began, or since they were last asked.
    pub(crate) fn service_logs(&self) -> LogParts {
        let mut marks = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        marks.read_new(&self.folder, names_of(&self.lab))
    }

    /// `facts` of the first load host as those of all of them together.
    pub(crate) fn facts(&self, facts: HostFacts) -> HostFacts {
        let mut addresses: Vec<_> =
            self.load_hosts.iter().flat_map(|host| &host.facts.addresses).copied().collect();
        addresses.sort_unstable();
        addresses.dedup();
        // All hosts have the settings of their role. If one has less, planning uses that.
        let fewest = self.load_hosts.iter().min_by_key(|host| host.facts.ports.count());
        let ports = fewest.map_or(facts.ports, |host| host.facts.ports.clone());
        let hosts = u32::try_from(self.load_hosts.len()).unwrap_or(u32::MAX);
        HostFacts { addresses, ports, origin: LoadOrigin::Lab { hosts }, ..facts }
    }

    /// Where load threads are to be, in turn. Ports begin at a place of this run's own.
    pub(crate) fn places(&self) -> Vec<LoadNamespace> {
        let place = |host: &LoadHost| LoadNamespace {
            network: host.network.clone(),
            ports: host.ports(),
            cpus: host.cpus.clone(),
        };
        self.load_hosts.iter().map(place).collect()
    }

    /// Returns ports for connections other than the load, from the first load host.
    pub(crate) fn first_ports(&self) -> SourcePorts {
        self.load_hosts[0].ports()
    }

    /// Resolves `--source auto`: all addresses of all load hosts on the way to `targets`, called
    /// `name`.
    pub fn source_addresses(&self, targets: &[SocketAddr], name: &str) -> Result<SourcesPlan, UserError> {
        let mut ranges: Vec<SourceRange> = Vec::new();
        for host in &self.load_hosts {
            let found = inside(&host.network, || route_sources(targets))?.map_err(|error| {
                let message =
                    format!("--source auto: load host {} has no route to `{name}`: {error}", host.name);
                let hint = format!("wavetank lab exec {} -- ip route", host.name);
                UserError::refused(Code::NoSourceAddress, message, hint)
            })?;
            ranges.extend(found.into_iter().filter(|range| !ranges.contains(range)).collect::<Vec<_>>());
        }
        Ok(SourcesPlan { ranges, order: SourceOrder::InTurn })
    }

    /// Checks that every load host can bind its first source address, and has one if the plan names
    /// any.
    pub fn try_sources(&self, plan: &Plan) -> Result<(), UserError> {
        if plan.sources.is_empty() {
            return Ok(());
        }
        for LoadHost { name, network, facts, .. } in &self.load_hosts {
            let refused =
                |message: String, hint: String| UserError::refused(Code::NoSourceAddress, message, hint);
            let owns = |range: &&SourceRange| facts.addresses.iter().any(|address| range.contains(*address));
            let Some(range) = plan.sources.ranges.iter().find(owns) else {
                let message = format!(
                    "load host {name} has none of the source addresses, and would send none of the load"
                );
                return Err(refused(
                    message,
                    "sources: auto uses all addresses of the load hosts".to_owned(),
                ));
            };
            let own = facts.addresses.iter().copied().find(|address| range.contains(*address));
            let bound =
                inside(network, || own.map_or(Ok(()), |address| bind_probe(SocketAddr::new(address, 0))))?;
            bound.map_err(|errno| {
                let message = format!("load host {name} cannot bind one of its source addresses: {errno}");
                refused(message, format!("wavetank lab exec {name} -- ip address"))
            })?;
        }
        Ok(())
    }

    /// The hosts that are to be looked at, by name.
    pub(crate) fn watches(&self) -> Vec<(String, HostSampler)> {
        let watch = |host: &Host| {
            let known = self.state.hosts.iter().find(|state| state.name == host.name)?;
            let sends = host.role == Role::Load;
            let allowance = HostQuota {
                cpus: host.limits.cpus.clone().unwrap_or_default(),
                cpus_alone: has_cpus_alone(host, &self.lab.hosts),
                // Load threads of this process are in no control group of the host: only its CPUs
                // hold for them.
                cpus_milli: host.limits.cpu_share_milli.filter(|_| !sends || self.by_agents.is_some()),
                memory_bytes: host.limits.memory_bytes,
                link_rates: link_rates(host),
            };
            let watch = HostSampler::new(known.process.pid, allowance);
            let watch = match (sends, self.by_agents.is_some()) {
                (true, true) => watch.sending_by_agents(),
                (true, false) => watch.sending(),
                (false, _) => watch,
            };
            Some((host.name.clone(), watch))
        };
        self.lab.hosts.iter().filter_map(watch).collect()
    }

    /// Returns the servers that report the number of the plan's connections: every `wavetank serve`
    /// that receives them. The list is empty if connections also reach other servers, or go through
    /// a proxy, which opens its own.
    pub(crate) fn servers(&self, plan: &Plan) -> Vec<LabServer> {
        let ports: Vec<u16> = plan
            .targets
            .iter()
            .flat_map(|target| plan.connect_addresses(target))
            .map(SocketAddr::port)
            .collect();
        let server = |host: &Host| {
            let listens = |service: &&Service| ports.iter().any(|port| service.listen.contains(port));
            let mut listening = host.services.iter().filter(listens);
            let (service, None) = (listening.next()?, listening.next()) else { return None };
            let ServiceKind::Serve(serve) = &service.kind else { return None };
            // Of copies on one port anyone answers, and only for itself.
            if serve.tls || service.copies != 1 {
                return None;
            }
            // If one is gone, the others would report only a part of the load, so none of them is
            // polled.
            let network =
                HostHandle::to(&self.folder, &host.name).and_then(|way| way.net_namespace()).ok()?;
            let (ip, _) = host.interfaces.iter().find_map(|interface| interface.addresses.first())?;
            let address = SocketAddr::new(*ip, *service.listen.first()?);
            Some(LabServer { network: Arc::new(network), address })
        };
        let taking = self.lab.hosts.iter().filter(|host| takes_load(host, plan) && !only_forwards(host));
        taking.map(server).collect::<Option<_>>().unwrap_or_default()
    }

    /// What the lab's servers have counted so far.
    ///
    /// # Errors
    /// A server that does not answer.
    pub(crate) fn counts(&self) -> Result<ServerCounts, UserError> {
        ServerCounts::read(&self.lab, &self.folder)
    }

    /// Describes which parts of the lab have gone since the run started.
    pub(crate) fn loss(&self) -> Option<Sentence> {
        let LabState { mark, keeper, hosts, .. } = &self.state;
        if keeper.marked(mark).is_none() {
            return Some(phrase!("the lab was taken down while the run went on"));
        }
        let ended = hosts.iter().find(|host| host.process.marked(mark).is_none())?;
        Some(sentence!("host {} of the lab ended while the run went on", ended.name))
    }

    /// `plan` with the lab's own faults among its events, each of them for one host.
    ///
    /// # Errors
    /// An event that names what the lab does not have.
    pub(crate) fn with_events(&self, plan: &Arc<Plan>) -> Result<Arc<Plan>, UserError> {
        let events = planned_events(&self.lab, &plan.events)?;
        Ok(Arc::new(Plan { events, ..Plan::clone(plan) }))
    }

    /// Returns an executor for the plan's events.
    pub(crate) fn event_executor(&self) -> Result<Box<dyn EventExecutor>, UserError> {
        Ok(Box::new(LabEventExecutor::new(&self.lab, &self.folder)?))
    }

    /// For the record.
    pub fn doc(&self) -> LabDoc {
        self.doc.clone()
    }

    /// The topology.
    pub const fn lab(&self) -> &Lab {
        &self.lab
    }
}

/// Its hosts by name.
fn names_of(lab: &Lab) -> impl Iterator<Item = &str> {
    lab.hosts.iter().map(|host| host.name.as_str())
}

/// Returns the host of a planned lab that sends everything but the load, if the lab can run one at
/// all.
pub fn first_load_host(lab: &Lab) -> Result<String, UserError> {
    if lab.host(THIS_HOST).is_some() {
        let message = format!("a host of the lab is called `{THIS_HOST}`, as an archive calls this one");
        return Err(UserError::usage(Code::LabHostName, message, "use another name in the topology"));
    }
    let first = lab.load_hosts().next().map(|index| lab.hosts[index].name.clone());
    first.ok_or_else(|| {
        let message = format!("lab {} has no host that sends load", lab.name);
        UserError::usage(Code::LabNoLoadHost, message, "load[1-2]: {role: load, networks: […]} in its file")
    })
}

/// Checks that a condition names a host of the lab.
pub fn check_host_condition(lab: &Lab, subject: &Subject, text: &str) -> Result<(), UserError> {
    let Subject::Host(_, pattern) = subject else { return Ok(()) };
    let names = || lab.hosts.iter().map(|host| host.name.as_str());
    if names().any(|name| matches_host(pattern, name)) {
        return Ok(());
    }
    let hint = match did_you_mean(pattern, names()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
    };
    let message = format!("`{text}`: lab {} has no host `{pattern}`", lab.name);
    Err(UserError::usage(Code::HostUnobserved, message, hint))
}

impl LoadHost {
    fn ports(&self) -> SourcePorts {
        let own: Vec<_> = self
            .facts
            .addresses
            .iter()
            .map(|&address| SourceRange { first: address, last: address })
            .collect();
        SourcePorts::new(&self.facts.tuple_ports(), WallClock::unix_ns().unsigned_abs()).at(&own)
    }
}

/// The interfaces of `host` with a limited rate, in bits per second.
fn link_rates(host: &Host) -> Vec<(String, u64)> {
    let rate = |interface: &Interface| Some((interface.name.clone(), interface.link.rate_bits?));
    host.interfaces.iter().filter_map(rate).collect()
}

/// Whether `host` is kept on CPUs that every other host is kept off.
fn has_cpus_alone(host: &Host, all: &[Host]) -> bool {
    let Some(own) = &host.limits.cpus else { return false };
    let mut others = all.iter().filter(|other| other.name != host.name);
    others
        .all(|other| other.limits.cpus.as_ref().is_some_and(|cpus| !cpus.iter().any(|cpu| own.contains(cpu))))
}

/// Returns the result of `work` in another network.
fn inside<T: Send>(network: &NetworkNamespace, work: impl FnOnce() -> T + Send) -> Result<T, UserError> {
    thread::scope(|scope| {
        let there = scope.spawn(move || network.enter().map(|()| work()));
        there.join().expect("reading the network state has no effect")
    })
    .map_err(|errno| {
        let message = format!("the network of a load host cannot be entered: {errno}");
        UserError::refused(
            Code::LabSystem,
            message,
            "use a lab with the rights that it was brought up with: root",
        )
    })
}

/// Returns the congestion control of a host, which a setting of its network namespace chooses.
fn congestion_control(folder: &LabFolder, host: &str) -> Option<String> {
    let network = HostHandle::to(folder, host).and_then(|way| way.net_namespace()).ok()?;
    let read = || std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok();
    let name = inside(&NetworkNamespace::new(network), read).ok().flatten()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Describes the lab for the record, with versions of services if the lab reports them.
fn doc(lab: &Lab, folder: &LabFolder) -> LabDoc {
    let status = LabStatus::read(folder).ok();
    let services = |host: &Host| -> Vec<String> {
        let known =
            status.as_ref().and_then(|status| status.hosts.iter().find(|known| known.name == host.name));
        let version = |name: &str| {
            let services = &known?.services;
            let own = services.iter().find(|service| service["name"].as_str() == Some(name))?;
            own["version"].as_str().map(|version| versioned(name, version))
        };
        host.services.iter().map(|one| version(&one.name).unwrap_or_else(|| one.name.clone())).collect()
    };
    let host = |host: &Host| LabHostDoc {
        name: host.name.clone(),
        role: host.role.as_str().to_owned(),
        services: services(host),
        congestion_control: congestion_control(folder, &host.name),
    };
    LabDoc { name: lab.name.clone(), hosts: lab.hosts.iter().map(host).collect() }
}
