//! Services of a host: written, checked, started, monitored, stopped.
//!
//! They are real programs in the foreground, children of the host's process. The files of a service
//! are in a folder of its name below the host's, and its output in `NAME.log` next to that folder.
//! Nothing is restarted automatically: a service that dies in a run is a result of the run.

mod certificate;
mod config_output;
mod counters;
mod haproxy_pool;
mod haproxy_statistics;
mod health;
mod kernel_plan;
mod log;
mod own_haproxy;
mod own_nginx;
mod plan;
mod pools;
mod private_dirs;
mod process;
mod program;
mod running_service;
mod status;
mod status_socket;
mod syslog;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wavetank_driver::Clock;
use wavetank_topology::{Host, Lab, PoolAction, Service, ServiceKind};
use wavetank_units::{Code, Nanos, UserError, did_you_mean, sanitize};

use counters::CounterSource;
use plan::Planner;
use running_service::RunningService;
use syslog::SyslogPlaces;

pub(crate) use process::prefer_oom_kill;
pub use status::{ServiceState, ServiceStatus};

/// Time limit for the end of all services of a host together.
const STOP_MAX: Nanos = Nanos::from_millis(1_000);

/// Checks that every program for the lab's services is on this machine, and that all their
/// configurations can be made. `file` is the topology file as the user named it, for messages.
///
/// # Errors
/// All missing programs and impossible configurations, each once.
pub fn check_programs(lab: &Lab, file: &str) -> Result<(), UserError> {
    program::check_all(lab)?;
    plan::rehearse(lab, file)
}

/// Has the programs of `lab.hosts[host]`'s services check their configurations, which are written
/// into `folder`. It is for a process that acts as that host and starts nothing. All rejected
/// configurations are reported together. Returns what they warn of.
pub(crate) fn try_out(lab: &Lab, host: usize, folder: &Path, file: &str) -> Result<Vec<String>, UserError> {
    let mut services = Services::new(lab, host, folder, file);
    services.only_checked = true;
    services.check()
}

/// Whether this process is a host, with its own mounts. Only PID 1 of a host has them; in any other
/// process, the machine's folders would be changed.
fn is_host() -> bool {
    std::process::id() == 1
}

/// All services of one host, in the host's process.
#[derive(Debug)]
pub struct Services {
    host: Host,
    folder: PathBuf,
    /// The topology file as the user named it.
    file: String,
    clock: Clock,
    /// Whether nothing will be started. In that case only files for the check are written.
    only_checked: bool,
    /// The services in start order; empty until they are checked.
    all: Vec<RunningService>,
}

impl Services {
    /// Returns the services of `lab.hosts[host]`; their files are written to `folder`. `file` is
    /// the topology file as the user named it, for messages.
    pub fn new(lab: &Lab, host: usize, folder: &Path, file: &str) -> Self {
        Self {
            host: lab.hosts[host].clone(),
            folder: folder.to_owned(),
            file: file.to_owned(),
            clock: Clock::starting_now(),
            only_checked: false,
            all: Vec::new(),
        }
    }

    /// Writes the configurations and has the programs check them. Returns what they warn of.
    ///
    /// # Errors
    /// A configuration that a program rejects, with the topology file's line; files that cannot be
    /// written.
    pub fn check(&mut self) -> Result<Vec<String>, UserError> {
        private_dirs::mount_private_dirs(&self.host)?;
        let Self { host, folder, file, clock, only_checked, .. } = &*self;
        let planner = Planner { host, folder, file, only_checked: *only_checked, is_host: is_host() };
        let checked = |service: &Service| {
            let running = RunningService::new(service.clone(), planner.plan(service)?, folder)?;
            running.check(file, &host.name, *clock).map(|warnings| (running, warnings))
        };
        let (mut all, mut warnings, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for service in &host.services {
            match checked(service) {
                Ok((running, reported)) => {
                    all.push(running);
                    warnings.extend(reported);
                }
                Err(error) => errors.push(error),
            }
        }
        self.all = all;
        UserError::combine(errors).map_or(Ok(()), Err)?;
        if is_host() && !self.only_checked {
            self.receive_syslog()?;
        }
        Ok(warnings)
    }

    /// Starts to receive what services log by syslog, if any of them does.
    fn receive_syslog(&self) -> Result<(), UserError> {
        let mut places = SyslogPlaces::default();
        for service in &self.all {
            let SyslogPlaces { targets, roots } = &service.plan.syslog;
            places.targets.extend(targets.iter().cloned());
            places.roots.extend(roots.iter().cloned());
        }
        let logging = self.all.iter().filter(|service| !service.plan.syslog.targets.is_empty());
        let senders = logging.map(RunningService::sender).collect::<std::io::Result<_>>();
        senders.and_then(|senders| syslog::receive(&places, senders)).map_err(|error| {
            let message = format!("cannot receive the log of services on {}: {error}", self.host.name);
            let hint = "check that no service listens at the address that `log` or `syslog:` names";
            UserError::refused(Code::LabSystem, message, hint)
        })
    }

    /// Starts all of them, one after the other, and waits for each until it is up.
    ///
    /// # Errors
    /// The first service that ends at its start or is not up in time. Earlier services keep
    /// running.
    pub fn start(&mut self) -> Result<(), UserError> {
        if self.all.is_empty() {
            self.check()?;
        }
        let Self { host, file, clock, all, .. } = self;
        let address = health::check_address(host);
        all.iter_mut().try_for_each(|service| service.start(file, &host.name, address, *clock))
    }

    /// Handles the end of the child `pid`, which is not reaped yet. Returns true if it was a
    /// service's process and is reaped now.
    pub fn handle_exit(&mut self, pid: u32) -> bool {
        self.all.iter_mut().any(|service| service.handle_exit(pid))
    }

    /// Stops all services within a second, the last started first. Processes that do not end by
    /// then are killed.
    pub fn stop(&mut self) {
        let deadline = self.clock.now().after(STOP_MAX);
        for service in self.all.iter_mut().rev() {
            service.stop(self.clock, deadline);
        }
    }

    /// Returns the status of all services.
    pub fn status(&self) -> Vec<ServiceStatus> {
        self.all.iter().map(RunningService::status).collect()
    }

    /// Returns the processes of `service` and all that they started, as the host numbers them.
    /// Those that the lab started come first. Empty for a service that is not running, or has no
    /// process.
    pub fn pids(&self, service: &str) -> Vec<u32> {
        self.all.iter().find(|one| one.service.name == service).map(RunningService::pids).unwrap_or_default()
    }

    /// Marks the end of a service's processes as intended until it is started again.
    pub(crate) fn ends_on_purpose(&mut self, name: &str) {
        if let Some(service) = self.all.iter_mut().find(|one| one.service.name == name) {
            service.ends_on_purpose = true;
        }
    }

    /// Stops the service of that name within a second, then kills it.
    ///
    /// # Errors
    /// A service that the host does not have.
    pub fn stop_one(&mut self, name: &str) -> Result<(), UserError> {
        let (clock, deadline) = (self.clock, self.clock.now().after(STOP_MAX));
        self.one(name)?.stop(clock, deadline);
        Ok(())
    }

    /// Restarts the service of that name, or those of its processes that are not running, and waits
    /// until it is up.
    ///
    /// # Errors
    /// A service that the host does not have, or one that does not come up again.
    pub fn start_one(&mut self, name: &str) -> Result<(), UserError> {
        let (clock, address) = (self.clock, health::check_address(&self.host));
        let (file, host) = (self.file.clone(), self.host.name.clone());
        self.one(name)?.start(&file, &host, address, clock)
    }

    /// Answers a client's question about services:
    /// - `{"counters": true}` returns the programs' counters
    /// - `{"deaths": true}` returns when and how processes ended that were to run on
    /// - `{"pools": [NAMES]}` returns the state of the servers behind balancers
    /// - `{"pool": ACTION}` applies a [`PoolAction`] permanently
    ///
    /// # Errors
    /// An unknown question, a program that does not report its counters, or a pool that cannot be
    /// read or changed.
    pub fn handle(&mut self, say: &Value) -> Result<Value, UserError> {
        if say["counters"] == json!(true) {
            return self.counters();
        }
        if say["deaths"] == json!(true) {
            let deaths: Vec<Value> = self.all.iter().flat_map(RunningService::deaths).collect();
            return Ok(json!({ "deaths": deaths }));
        }
        if say["pools"].is_array() {
            return self.pools(&say["pools"]);
        }
        if let Ok(action) = serde_json::from_value::<PoolAction>(say["pool"].clone()) {
            return self.change_pool(&action).map(|_| Value::Null);
        }
        let hint = "is the lab of another version of wavetank?";
        Err(UserError::refused(Code::LabMessage, "the host does not know this request", hint))
    }

    /// Returns the counters of all programs that have some.
    fn counters(&mut self) -> Result<Value, UserError> {
        let host = &self.host.name;
        let mut counters = Vec::new();
        for service in &mut self.all {
            if service.is_down() {
                continue;
            }
            let folders = service.plan.launches.iter().map(|launch| launch.folder.as_path());
            let own = service.readings.first_mut();
            let read = match (&service.plan.counters, &service.service.kind, own) {
                (Some(CounterSource::Socket(_)), ServiceKind::Nginx(_), _) => {
                    counters::nginx_counters(folders.zip(&mut service.readings))
                }
                (Some(CounterSource::Socket(_)), ServiceKind::Haproxy(_), _) => {
                    counters::haproxy_counters(folders)
                }
                // A user's own program may not answer, which is no reason to refuse a run.
                (Some(CounterSource::OwnNginx(place)), _, Some(readings)) => {
                    let Ok(read) = counters::own_nginx_counters(place, readings) else { continue };
                    Ok(read)
                }
                (Some(CounterSource::OwnHaproxy { place, fronts }), _, Some(readings)) => {
                    let Ok(read) = counters::own_haproxy_counters(place, fronts, readings) else { continue };
                    Ok(read)
                }
                _ => continue,
            };
            let name = &service.service.name;
            let mut read = read.map_err(|reason| {
                let message = format!("the counters of `{name}` on {host} cannot be read: {reason}");
                UserError::refused(Code::LabCounters, message, format!("wavetank lab logs {host} {name}"))
            })?;
            (read["service"], read["starts"]) = (json!(name), json!(service.starts));
            counters.push(read);
        }
        Ok(json!({ "counters": counters }))
    }

    fn one(&mut self, name: &str) -> Result<&mut RunningService, UserError> {
        if let Some(index) = self.all.iter().position(|one| one.service.name == name) {
            return Ok(&mut self.all[index]);
        }
        let names: Vec<&str> = self.all.iter().map(|one| one.service.name.as_str()).collect();
        let message = format!("host {} has no service `{}`", self.host.name, sanitize(name));
        let hint = match did_you_mean(name, names.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None if names.is_empty() => "it has none".to_owned(),
            None => format!("it has {}", names.join(", ")),
        };
        Err(UserError::usage(Code::LabService, message, hint))
    }
}
