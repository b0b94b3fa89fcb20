//! [`RunningService`]: one service of a host, from its plan to its end.

use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wavetank_driver::{Clock, WallClock};
use wavetank_topology::render::{ConfigMessage, NOTHING_SAID, last_message};
use wavetank_topology::{Probe, Service, ServiceKind};
use wavetank_units::{Code, Nanos, UserError, sanitize};

use super::config_output::checked;
use super::counters::CounterSource;
use super::health::{all_listen, check};
use super::log::Log;
use super::plan::ServicePlan;
use super::process::{Stat, exits_before, members, pause, signal};
use super::status::{ServiceState, ServiceStatus};
use super::syslog::Sender;
use crate::file_error::with_place;

/// Maximum number of ends of processes that are kept of a service.
const DEATHS_MAX: usize = 100;
/// The hint for a user's own configuration.
const OWN_HINT: &str = "correct your file given by `config`; the message is the program's own";

/// A service with its plan, processes and log.
#[derive(Debug)]
pub(super) struct RunningService {
    pub(super) service: Service,
    pub(super) plan: ServicePlan,
    log: Log,
    /// Started processes, by copy.
    children: Vec<Option<Child>>,
    /// The last requested state.
    wanted: Wanted,
    /// How one of its processes ended without being stopped, with its last output.
    ended: Option<String>,
    /// It ended by itself with exit status 0.
    ended_well: bool,
    /// When and how processes ended that were to run on.
    deaths: Vec<Death>,
    /// A fault ends its processes.
    pub(super) ends_on_purpose: bool,
    /// How often the counters of each copy were read since its start; some programs count these
    /// readings as well.
    pub(super) readings: Vec<u64>,
    /// How many processes were started in total. A new process counts from 0.
    pub(super) starts: u64,
}

/// The end of a process that was to run on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Death {
    copy: usize,
    /// Its exit status, such as `signal: 9 (SIGKILL)`.
    how: String,
    at_unix_ns: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// The service was not started yet.
    Nothing,
    Up,
    Stopped,
}

impl RunningService {
    /// Returns a service that is planned and not started.
    pub(super) fn new(service: Service, plan: ServicePlan, folder: &Path) -> Result<Self, UserError> {
        let log = Log::begin(folder, &service.name)?;
        let children = plan.launches.iter().map(|_| None).collect();
        let (wanted, readings) = (Wanted::Nothing, vec![0; plan.launches.len()]);
        Ok(Self {
            service,
            plan,
            log,
            children,
            wanted,
            ended: None,
            ended_well: false,
            deaths: Vec::new(),
            ends_on_purpose: false,
            readings,
            starts: 0,
        })
    }

    /// Has the program check its configuration. Returns what it warns of in a user's own one.
    pub(super) fn check(&self, file: &str, host: &str, clock: Clock) -> Result<Vec<String>, UserError> {
        let Some(check) = &self.plan.check else { return Ok(Vec::new()) };
        let (passed, output) = checked(check, clock).map_err(|error| self.not_started(file, host, &error))?;
        if passed {
            let warnings = if check.own.is_some() { check.warnings(&output) } else { Vec::new() };
            let place = self.service.place_of("config");
            let text = |said: &ConfigMessage| {
                let message = format!("`{}` on {host} warns {}", self.service.name, check.in_config(said));
                with_place(file, place, UserError::usage(Code::LabConfig, message, "")).message
            };
            return Ok(warnings.iter().map(text).collect());
        }
        let said = check.error(&output);
        let message = format!(
            "`{}` on {host} does not accept its configuration {}",
            self.service.name,
            check.in_config(&said)
        );
        let (hint, place) = if check.own.is_some() {
            (unresolved_hint(&said.words).unwrap_or(OWN_HINT), self.service.place_of("config"))
        } else {
            let cause = said.line.and_then(|line| check.rendered.origin_of(line));
            (
                "use `without` to leave a directive out, or `config` for your own file",
                cause.unwrap_or(self.service.place),
            )
        };
        Err(with_place(file, place, UserError::usage(Code::LabConfig, message, hint)))
    }

    /// Starts the processes that are not running, and waits until the service is up.
    pub(super) fn start(
        &mut self,
        file: &str,
        host: &str,
        address: IpAddr,
        clock: Clock,
    ) -> Result<(), UserError> {
        (self.wanted, self.ended, self.ends_on_purpose) = (Wanted::Up, None, false);
        for copy in 0..self.plan.launches.len() {
            if self.children[copy].is_some() {
                continue;
            }
            let started = self.log.end().and_then(|out| {
                let err = self.log.end()?;
                self.plan.launches[copy].start(out, err)
            });
            match started {
                Ok(child) => {
                    (self.children[copy], self.readings[copy]) = (Some(child), 0);
                    self.starts += 1;
                }
                Err(error) => return Err(self.not_started(file, host, &error)),
            }
        }
        self.wait_until_up(file, host, address, clock)
    }

    fn wait_until_up(
        &mut self,
        file: &str,
        host: &str,
        address: IpAddr,
        clock: Clock,
    ) -> Result<(), UserError> {
        let health = self.service.health.clone();
        let deadline = clock.now().after(health.within);
        if matches!(health.probe, Probe::Alive) {
            pause(health.every);
        }
        loop {
            self.notice_ends();
            if let Some(ended) = &self.ended {
                let message = format!("`{}` on {host} ended at its start: {ended}", self.service.name);
                let own = self.plan.check.as_ref().is_some_and(|check| check.own.is_some());
                let hint = if self.ended_well {
                    "it ended without an error: a service must stay in the foreground (no `&`, no daemon option)"
                } else if own {
                    OWN_HINT
                } else {
                    "check that nothing else listens on its ports; the message is its own output"
                };
                return Err(with_place(
                    file,
                    self.service.place,
                    UserError::refused(Code::LabStart, message, hint),
                ));
            }
            let Err(reason) = check(address, &health.probe).and_then(|()| self.all_copies_answer()) else {
                return Ok(());
            };
            if clock.now() >= deadline {
                let said = self.log.last_lines("it was not up in time");
                let said = self.last_said(&said);
                let message = format!("`{}` on {host} is not up in time: {reason}{said}", self.service.name);
                let hint = "use `health: {within: 30s}` to wait longer; check that it listens on the configured port";
                return Err(with_place(
                    file,
                    self.service.place,
                    UserError::refused(Code::LabHealth, message, hint),
                ));
            }
            pause(health.every);
        }
    }

    /// Copies share a port, on which any of them answers for all. In addition, each has its own
    /// socket.
    fn all_copies_answer(&self) -> Result<(), String> {
        let Some(CounterSource::Socket(socket)) = self.plan.counters else { return Ok(()) };
        let missing = self.plan.launches.iter().position(|launch| !launch.folder.join(socket).exists());
        missing.map_or(Ok(()), |copy| Err(format!("copy {} has not created its {socket}", copy + 1)))
    }

    /// Records all processes that have ended by themselves.
    fn notice_ends(&mut self) {
        for copy in 0..self.children.len() {
            let status = match &mut self.children[copy] {
                Some(child) => child.try_wait().ok().flatten(),
                None => None,
            };
            if let Some(status) = status {
                self.note_end(copy, status);
            }
        }
    }

    /// Handles the end of the child `pid`: true if it was one of these, and is reaped now.
    pub(super) fn handle_exit(&mut self, pid: u32) -> bool {
        let its = |child: &Option<Child>| child.as_ref().is_some_and(|child| child.id() == pid);
        let Some(copy) = self.children.iter().position(its) else { return false };
        self.notice_ends();
        // Waiting for an own child that has ended cannot fail.
        self.children[copy].is_none()
    }

    fn note_end(&mut self, copy: usize, status: ExitStatus) {
        if let Some(child) = self.children[copy].take() {
            // Workers of a killed master would continue to listen. While one of them exists, the
            // group's number is not reused.
            signal(&child, Signal::KILL);
        }
        let which =
            if self.children.len() > 1 { format!("copy {} ended: ", copy + 1) } else { "ended: ".to_owned() };
        let said = self.log.last_lines(&format!("{which}{status}"));
        if self.wanted == Wanted::Up && !self.ends_on_purpose && self.deaths.len() < DEATHS_MAX {
            self.deaths.push(Death { copy, how: status.to_string(), at_unix_ns: WallClock::unix_ns() });
        }
        if self.wanted == Wanted::Up && self.ended.is_none() {
            self.ended = Some(format!("{status}{}", self.last_said(&said)));
            self.ended_well = status.success();
        }
    }

    /// Requests the end of its processes, and kills them at `deadline`.
    pub(super) fn stop(&mut self, clock: Clock, deadline: Nanos) {
        self.wanted = Wanted::Stopped;
        for child in self.children.iter().flatten() {
            signal(child, Signal::TERM);
            // A stopped process does not handle signals.
            signal(child, Signal::CONT);
        }
        for slot in &mut self.children {
            let Some(mut child) = slot.take() else { continue };
            let _ = exits_before(&child, clock, deadline);
            signal(&child, Signal::KILL);
            // It is dead or dying; its exit status is not needed.
            let _ = child.wait();
        }
        // The host ends next, so output that is not in a file by then is lost.
        self.log.last_lines("stopped");
    }

    /// Makes the processes that the lab started re-read their files (SIGHUP). Processes that these
    /// started get no signal, because it would end them.
    pub(super) fn hang_up(&self) {
        for child in self.children.iter().flatten() {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // A process that has ended and is not reaped yet ignores the signal.
                let _ = kill_process(pid, Signal::HUP);
            }
        }
    }

    /// Whether none of its processes is running.
    pub(super) fn is_down(&self) -> bool {
        self.children.iter().all(Option::is_none)
    }

    /// Returns when and how processes of it ended that were to run on.
    pub(super) fn deaths(&self) -> Vec<Value> {
        let death = |Death { copy, how, at_unix_ns }: &Death| {
            let copy = (self.children.len() > 1).then_some(copy + 1);
            json!({ "service": self.service.name, "copy": copy, "how": how, "at_unix_ns": at_unix_ns })
        };
        self.deaths.iter().map(death).collect()
    }

    /// Returns the service as a sender of syslog messages.
    pub(super) fn sender(&self) -> std::io::Result<Sender> {
        let program = self.service.kind.as_str();
        Ok(Sender { name: self.service.name.clone(), program, log: self.log.writer()? })
    }

    /// Its processes.
    pub(super) fn pids(&self) -> Vec<u32> {
        let leaders: Vec<u32> = self.children.iter().flatten().map(Child::id).collect();
        if leaders.is_empty() { leaders } else { members(&leaders) }
    }

    /// Returns the last message in its output, after a colon; empty if there was none. The place in
    /// its configuration comes first.
    fn last_said(&self, output: &str) -> String {
        let message = match &self.plan.check {
            Some(check) => check.in_config(&check.error(output)),
            None => last_message(output).words,
        };
        if message.ends_with(NOTHING_SAID) { String::new() } else { format!(": {}", sanitize(&message)) }
    }

    /// Returns its status.
    pub(super) fn status(&self) -> ServiceStatus {
        let pids = self.pids();
        let state = match self.wanted {
            Wanted::Nothing | Wanted::Stopped => ServiceState::Stopped,
            Wanted::Up if self.children.iter().any(Option::is_none) => ServiceState::Failed,
            Wanted::Up => {
                let condition = |pid: &u32| Stat::for_pid(*pid).is_some_and(|stat| stat.state == 'T');
                let works = in_kernel(&self.service.kind) || all_listen(&self.service.listen);
                if works && !pids.iter().any(condition) { ServiceState::Up } else { ServiceState::Down }
            }
        };
        let said = self.ended.clone().filter(|_| state == ServiceState::Failed);
        let Self { service, plan, .. } = self;
        ServiceStatus { name: service.name.clone(), state, pids, version: plan.version.clone(), said }
    }

    fn not_started(&self, file: &str, host: &str, error: &std::io::Error) -> UserError {
        let message = format!("`{}` on {host} cannot be started: {error}", self.service.name);
        with_place(
            file,
            self.service.place,
            UserError::refused(Code::LabStart, message, "check that the program exists and is executable"),
        )
    }
}

/// Returns a hint if a name in the configuration is unknown in the lab.
fn unresolved_hint(said: &str) -> Option<&'static str> {
    let unknown = ["could not resolve address", "host not found in"];
    unknown.iter().any(|part| said.contains(part)).then_some(
        "name a host of the lab so, dots included, or an address: virtual: [{address: …, on: …, name: …}]",
    )
}

/// Whether the kernel accepts its connections, so that no socket listens.
const fn in_kernel(kind: &ServiceKind) -> bool {
    matches!(kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) | ServiceKind::Ipvs(_))
}
