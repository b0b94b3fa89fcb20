//! The director: the process that updates the table of the kernel's rules to the servers that are
//! alive.

use std::io::Write;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use wavetank_driver::Clock;
use wavetank_topology::{NftBalancer, Pool, PoolChange};
use wavetank_units::{Code, Nanos, UserError};

use super::health_check::{HealthCheck, Outcome};
use super::nft;
use super::state_file::DirectorState;
use super::weights::Weights;
use crate::LabFolder;
use crate::response::system;

/// The director's next action.
#[derive(PartialEq, Eq)]
enum Wakeup {
    Nothing,
    ReadWeights,
    End,
}

struct Director<'l> {
    steering: NftBalancer<'l>,
    pool: Pool,
    weights: Weights,
    /// The service's folder.
    folder: PathBuf,
    /// Run time at the last check of the clock.
    now: Nanos,
}

/// Runs the director until a signal ends it; after that, clients are refused. `folder` is the
/// host's folder.
pub(crate) fn run(folder: &Path, service: &str) -> Result<(), UserError> {
    let unknown = || {
        UserError::refused(
            Code::LabState,
            format!("there is no balancer `{service}` here"),
            "wavetank lab status",
        )
    };
    let host_name = folder.file_name().and_then(|name| name.to_str()).ok_or_else(unknown)?;
    let lab_folder = folder.ancestors().nth(2).map(Path::to_path_buf);
    let order = lab_folder.and_then(LabFolder::from_argument).ok_or_else(unknown)?.order()?;
    let host = order.lab.host(host_name).ok_or_else(unknown)?;
    let service = host.service(service).ok_or_else(unknown)?;
    let steering = NftBalancer::for_service(service, host).ok_or_else(unknown)?;
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        signals.add(signal);
    }
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let blocked = signals.thread_block().and_then(|()| SignalFd::with_flags(&signals, flags));
    let signals = blocked.map_err(|errno| system("the director cannot receive signals", &errno))?;
    let folder = folder.join(&service.name);
    let weights = Weights::in_folder(&folder);
    let mut director = Director { steering, pool: steering.pool(), weights, folder, now: Nanos::ZERO };
    director.read_weights();
    // If the rules are already loaded, their slots are from another director, which may have seen
    // other servers.
    nft::load(&steering, &order.file)?;
    director.swap()?;
    director.live(&signals)?;
    nft::remove(&steering)
}

impl Director<'_> {
    fn live(&mut self, signals: &SignalFd) -> Result<(), UserError> {
        let clock = Clock::starting_now();
        let steering = self.steering;
        let check = |server| steering.check().map(|how| HealthCheck::new(server, how, Nanos::ZERO));
        let mut checks: Vec<HealthCheck<'_>> = steering.servers().iter().filter_map(check).collect();
        loop {
            self.now = clock.now();
            let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
            for (index, check) in checks.iter_mut().enumerate() {
                outcomes.extend(check.handle_time(self.now).map(|outcome| (index, outcome)));
            }
            self.judge(&outcomes)?;
            let ready = wait(signals, &checks, self.now)?;
            outcomes.clear();
            for index in ready {
                outcomes.extend(checks[index].handle_ready().map(|outcome| (index, outcome)));
            }
            self.judge(&outcomes)?;
            match wakeup(signals) {
                Wakeup::Nothing => {}
                Wakeup::ReadWeights => {
                    if self.read_weights() {
                        self.swap()?;
                    }
                }
                Wakeup::End => return Ok(()),
            }
        }
    }

    /// Applies check results. Several servers that fail or recover together are one swap.
    fn judge(&mut self, outcomes: &[(usize, Outcome)]) -> Result<(), UserError> {
        let mut changed = false;
        for (index, outcome) in outcomes {
            let Some(change) = self.pool.handle_check(*index, outcome.is_ok()) else { continue };
            changed = true;
            let server = &self.steering.servers()[*index];
            let what = match (change, outcome) {
                (PoolChange::Out, Err(why)) => format!("is out: {why}"),
                (PoolChange::Out, Ok(())) | (PoolChange::In, _) => "is back in".to_owned(),
            };
            self.say(&format!("{}:{} {what}", server.name, server.port));
        }
        if changed { self.swap() } else { Ok(()) }
    }

    /// Updates the kernel's table to the pool, and logs it.
    fn swap(&self) -> Result<(), UserError> {
        nft::swap(&self.steering, &self.pool)?;
        let servers = self.steering.servers();
        self.say(&format!("{} of {} servers take connections", self.pool.accepting_count(), servers.len()));
        DirectorState::from_pool(servers, &self.pool).write(&self.folder)
    }

    /// Reads the weights; returns true if one has changed.
    fn read_weights(&mut self) -> bool {
        let servers = self.steering.servers();
        match self.weights.read(servers) {
            Ok(weights) => {
                let mut changed = false;
                for (index, weight) in weights.into_iter().enumerate() {
                    if self.pool.set_weight(index, weight) {
                        changed = true;
                        self.say(&format!("{}:{} weighs {weight}", servers[index].name, servers[index].port));
                    }
                }
                changed
            }
            Err(why) => {
                self.say(&format!("the weights are unchanged: {why}"));
                false
            }
        }
    }

    /// Writes a line to the service's log, with the seconds since the start.
    fn say(&self, what: &str) {
        // A log that cannot be written does not stop the balancer.
        let _ = writeln!(std::io::stdout(), "{:9.3} {what}", self.now.as_secs_f64());
    }
}

/// Waits for an event; returns the checks with ready sockets.
fn wait(signals: &SignalFd, checks: &[HealthCheck<'_>], now: Nanos) -> Result<Vec<usize>, UserError> {
    let mut handles = vec![PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN)];
    let mut owner = Vec::new();
    for (index, check) in checks.iter().enumerate() {
        if let Some((socket, flags)) = check.handle() {
            handles.push(PollFd::from_borrowed_fd(socket, flags));
            owner.push(index);
        }
    }
    let limit = checks.iter().map(HealthCheck::due).min().map(|due| {
        let left = due.since(now);
        Timespec { tv_sec: (left / 1_000_000_000) as i64, tv_nsec: (left % 1_000_000_000) as i64 }
    });
    match poll(&mut handles, limit.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(system("the director cannot wait", &errno)),
    }
    let ready = handles[1..].iter().zip(owner).filter(|(handle, _)| !handle.revents().is_empty());
    Ok(ready.map(|(_, index)| index).collect())
}

/// Returns the action for the received signals; an end has priority.
fn wakeup(signals: &SignalFd) -> Wakeup {
    let mut reported = Wakeup::Nothing;
    while let Ok(Some(signal)) = signals.read_signal() {
        if signal.ssi_signo == Signal::SIGHUP as u32 {
            reported = Wakeup::ReadWeights;
        } else {
            return Wakeup::End;
        }
    }
    reported
}
