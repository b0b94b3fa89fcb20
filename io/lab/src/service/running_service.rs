//! [`RunningService`]: one service of a host, from its plan to its end.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::process::{Pid, Signal, kill_process};
use wavetank_driver::Clock;
use wavetank_plan::{Nanos, UserError, sanitize};
use wavetank_topology::{Probe, Service, ServiceKind};

use super::health::{all_listen, check};
use super::log::Log;
use super::plan::{Check, ServicePlan};
use super::process::{Stat, exits_before, members, pause, signal};
use super::status::{ServiceState, ServiceStatus};
use crate::file_error::with_place;

/// A check of a configuration that takes longer hangs.
const CHECK_MAX: Nanos = Nanos::from_secs(20);
/// Bytes of a program's words about its configuration.
const CHECK_BYTES_MAX: usize = 64 * 1024;
/// Letters of a service's last words in a message.
const SAID_CHARS_MAX: usize = 400;

/// See the module's description.
#[derive(Debug)]
pub(super) struct RunningService {
    pub(super) service: Service,
    pub(super) plan: ServicePlan,
    log: Log,
    /// Started processes, by copy.
    children: Vec<Option<Child>>,
    /// What was wanted last.
    wanted: Wanted,
    /// How one of its processes ended that nobody had stopped, and its last words.
    ended: Option<String>,
    /// It ended by itself with exit status 0: to its own mind, all was done.
    ended_well: bool,
    /// How often the counters of each copy were read since it was started, which some programs count too.
    pub(super) readings: Vec<u64>,
    /// How many processes were started in all: a new one counts from 0.
    pub(super) starts: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Not started yet.
    Nothing,
    Up,
    Stopped,
}

impl RunningService {
    /// A service that is planned and not started.
    pub(super) fn new(service: Service, plan: ServicePlan, folder: &Path) -> Result<Self, UserError> {
        let log = Log::begin(folder, &service.name)?;
        let children = plan.launches.iter().map(|_| None).collect();
        let (wanted, readings) = (Wanted::Nothing, vec![0; plan.launches.len()]);
        let (ended, ended_well) = (None, false);
        Ok(Self { service, plan, log, children, wanted, ended, ended_well, readings, starts: 0 })
    }

    /// Lets the program check its configuration.
    pub(super) fn check(&self, file: &str, host: &str, clock: Clock) -> Result<(), UserError> {
        let Some(check) = &self.plan.check else { return Ok(()) };
        let (passed, output) = checked(check, clock).map_err(|error| self.not_started(file, host, &error))?;
        if passed {
            return Ok(());
        }
        let config = check.config();
        let said = (check.said)(&output, config);
        let line = said.line.map_or_else(String::new, |line| format!(":{line}"));
        let name = check.own.as_deref().map_or_else(|| config.to_owned(), |own| sanitize(own).into_owned());
        let message = format!(
            "`{}` on {host} does not accept its configuration ({name}{line}): {}",
            self.service.name,
            sanitize(&said.words)
        );
        let (hint, place) = if check.own.is_some() {
            ("config: the file is yours; these are the program's own words", self.service.place_of("config"))
        } else {
            let cause = said.line.and_then(|line| check.rendered.origin_of(line));
            (
                "without: leaves a directive out; config: takes a file of yours",
                cause.unwrap_or(self.service.place),
            )
        };
        Err(with_place(file, place, UserError::usage("lab_config", message, hint)))
    }

    /// Starts what does not run yet, and waits until the service is up.
    pub(super) fn start(
        &mut self,
        file: &str,
        host: &str,
        address: IpAddr,
        clock: Clock,
    ) -> Result<(), UserError> {
        (self.wanted, self.ended) = (Wanted::Up, None);
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
                let hint = if self.ended_well {
                    "it ended without an error: a service stays in the foreground (no `&`, no option to be a daemon)"
                } else {
                    "nothing else may listen on its ports; what it said is its own"
                };
                return Err(with_place(
                    file,
                    self.service.place,
                    UserError::refused("lab_start", message, hint),
                ));
            }
            let Err(reason) = check(address, &health.probe).and_then(|()| self.all_copies_answer()) else {
                return Ok(());
            };
            if clock.now() >= deadline {
                let said = told(&self.log.last_lines("it was not up in time"));
                let message = format!("`{}` on {host} is not up in time: {reason}{said}", self.service.name);
                let hint =
                    "health: {within: 30s} waits longer; does it listen on the port that the file says?";
                return Err(with_place(
                    file,
                    self.service.place,
                    UserError::refused("lab_health", message, hint),
                ));
            }
            pause(health.every);
        }
    }

    /// Copies share a port, on which any of them answers for all; each has a socket of its own besides.
    fn all_copies_answer(&self) -> Result<(), String> {
        let Some(socket) = self.plan.counters else { return Ok(()) };
        let missing = self.plan.launches.iter().position(|launch| !launch.folder.join(socket).exists());
        missing.map_or(Ok(()), |copy| Err(format!("copy {} has not made its {socket}", copy + 1)))
    }

    /// Takes note of all processes that have ended by themselves.
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

    /// The child `pid` has ended: true if it was one of these, and is reaped now.
    pub(super) fn handle_exit(&mut self, pid: u32) -> bool {
        let its = |child: &Option<Child>| child.as_ref().is_some_and(|child| child.id() == pid);
        let Some(copy) = self.children.iter().position(its) else { return false };
        self.notice_ends();
        // Not to be waited for is nothing that can happen to an own child that has ended.
        self.children[copy].is_none()
    }

    fn note_end(&mut self, copy: usize, status: ExitStatus) {
        if let Some(child) = self.children[copy].take() {
            // Workers of a master that was killed would go on listening. While one of them is there nobody else can get
            // the group's number.
            signal(&child, Signal::KILL);
        }
        let which =
            if self.children.len() > 1 { format!("copy {} ended: ", copy + 1) } else { "ended: ".to_owned() };
        let said = self.log.last_lines(&format!("{which}{status}"));
        if self.wanted == Wanted::Up && self.ended.is_none() {
            self.ended = Some(format!("{status}{}", told(&said)));
            self.ended_well = status.success();
        }
    }

    /// Asks it to end, and makes it end at `deadline`.
    pub(super) fn stop(&mut self, clock: Clock, deadline: Nanos) {
        self.wanted = Wanted::Stopped;
        for child in self.children.iter().flatten() {
            signal(child, Signal::TERM);
            // One that stands still hears nothing.
            signal(child, Signal::CONT);
        }
        for slot in &mut self.children {
            let Some(mut child) = slot.take() else { continue };
            let _ = exits_before(&child, clock, deadline);
            signal(&child, Signal::KILL);
            // It is dead or dies now; what it was ended by is of no interest.
            let _ = child.wait();
        }
        // The host ends next: what is in no file by then is lost.
        self.log.last_lines("stopped");
    }

    /// Tells those of its processes that the lab started to read anew what they are told by files (SIGHUP); not what they
    /// started, which would end by it.
    pub(super) fn hang_up(&self) {
        for child in self.children.iter().flatten() {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // One that has ended and is not reaped yet hears nothing.
                let _ = kill_process(pid, Signal::HUP);
            }
        }
    }

    /// Whether none of its processes runs.
    pub(super) fn is_down(&self) -> bool {
        self.children.iter().all(Option::is_none)
    }

    /// Its processes.
    pub(super) fn pids(&self) -> Vec<u32> {
        let leaders: Vec<u32> = self.children.iter().flatten().map(Child::id).collect();
        if leaders.is_empty() { leaders } else { members(&leaders) }
    }

    /// How it does.
    pub(super) fn status(&self) -> ServiceStatus {
        let pids = self.pids();
        let state = match self.wanted {
            Wanted::Nothing | Wanted::Stopped => ServiceState::Stopped,
            Wanted::Up if self.children.iter().any(Option::is_none) => ServiceState::Failed,
            Wanted::Up => {
                let stands = |pid: &u32| Stat::for_pid(*pid).is_some_and(|stat| stat.state == 'T');
                let works = in_kernel(&self.service.kind) || all_listen(&self.service.listen);
                if works && !pids.iter().any(stands) { ServiceState::Up } else { ServiceState::Down }
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
            UserError::refused("lab_start", message, "is the program there, and may it be executed?"),
        )
    }
}

impl Check {
    /// The name of the configuration's file.
    pub(super) fn config(&self) -> &str {
        &self.rendered.path
    }
}

/// Whether the program accepts its configuration, and what it said. Its words go to a file, since a program that fills a
/// pipe nobody reads would wait for ever.
fn checked(check: &Check, clock: Clock) -> std::io::Result<(bool, String)> {
    let path = check.launch.folder.join("check.txt");
    let out = fs::File::create(&path)?;
    let err = out.try_clone()?;
    let mut child = check.launch.start(out.into(), err.into())?;
    let ended = exits_before(&child, clock, clock.now().after(CHECK_MAX));
    if !ended {
        signal(&child, Signal::KILL);
    }
    let status = child.wait()?;
    let mut bytes = fs::read(&path)?;
    bytes.truncate(CHECK_BYTES_MAX);
    let words = String::from_utf8_lossy(&bytes).into_owned();
    if ended {
        return Ok((status.success(), words));
    }
    Ok((false, format!("{words}\nits check took longer than {} s", CHECK_MAX.0 / 1_000_000_000)))
}

/// Whether the kernel takes its connections: no socket listens.
const fn in_kernel(kind: &ServiceKind) -> bool {
    matches!(kind, ServiceKind::DirectRouting(_) | ServiceKind::Nat(_) | ServiceKind::Ipvs(_))
}

/// The last words of a program, behind a colon; nothing if it said nothing.
fn told(said: &str) -> String {
    let words =
        said.lines().rev().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("wavetank:"));
    words.map_or_else(String::new, |line| {
        let line: String = line.chars().take(SAID_CHARS_MAX).collect();
        format!(": {}", sanitize(&line))
    })
}
