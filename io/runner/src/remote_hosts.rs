//! [`RemoteHosts`]: hosts under test that are sampled over ssh during a run (`--observe`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wavetank_driver::{Clock, Signals};
use wavetank_inventory::Host;
use wavetank_measure::HostSample;
use wavetank_observe::{RemoteSampler, remote_sampler};
use wavetank_ssh::{HostEvent, RemoteCommand, SshOptions, run_on_hosts};
use wavetank_units::{Code, Nanos, UserError};

/// Time to connect and log in.
const CONNECT_TIMEOUT: Nanos = Nanos::from_secs(10);
/// Latest time of the first sample of each host.
const FIRST_SAMPLE_MAX: Nanos = Nanos::from_secs(20);
/// How often signals are looked at while the first samples are awaited.
const POLL_WAIT: Duration = Duration::from_millis(50);
/// Maximum backlog of unread samples of a host. Samples beyond it are dropped.
const BACKLOG: usize = 32;

/// What a host reports.
enum Report {
    /// A sample. Its time is its arrival, on the process's clock.
    Sample(usize, Box<HostSample>),
    /// It is not sampled any more, for this reason.
    Ended(usize, String),
}

/// See the module's description.
pub(crate) struct RemoteHosts {
    names: Vec<String>,
    reports: Receiver<Report>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    /// The latest sample of each host from before the load.
    before: BTreeMap<usize, HostSample>,
}

impl RemoteHosts {
    /// Starts sampling `names`, and returns once each of them has sent a sample. `None` without
    /// names. `clock` is the process's.
    ///
    /// # Errors
    /// A host that cannot be sampled.
    pub(crate) fn start(names: &[String], clock: Clock, signals: Signals) -> Result<Option<Self>, UserError> {
        if names.is_empty() {
            return Ok(None);
        }
        let (to, reports) = sync_channel(BACKLOG * names.len());
        let over = Arc::new(AtomicBool::new(false));
        let (hosts, is_over) = (names.to_vec(), Arc::clone(&over));
        let thread = thread::Builder::new()
            .name("observe".to_owned())
            .spawn(move || sample_all(&hosts, clock, &is_over, &to))
            .map_err(|error| thread_refused(&error))?;
        let mut all =
            Self { names: names.to_vec(), reports, over, thread: Some(thread), before: BTreeMap::new() };
        all.await_first(clock, signals)?;
        Ok(Some(all))
    }

    /// The hosts, in the order of their numbers.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    fn await_first(&mut self, clock: Clock, signals: Signals) -> Result<(), UserError> {
        let latest = clock.now().after(FIRST_SAMPLE_MAX);
        while self.before.len() < self.names.len() && signals.received() == 0 {
            match self.reports.recv_timeout(POLL_WAIT) {
                Ok(Report::Sample(host, sample)) => drop(self.before.insert(host, *sample)),
                Ok(Report::Ended(host, reason)) => return Err(unreachable(&self.names[host], &reason)),
                Err(_) if clock.now() >= latest => {
                    let silent = (0..self.names.len()).find(|host| !self.before.contains_key(host));
                    let name = silent.map_or("", |host| self.names[host].as_str());
                    return Err(unreachable(name, &format!("no sample within {FIRST_SAMPLE_MAX}")));
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the samples since the last call, with times on the run's clock, on which `zero` of
    /// the process's clock is 0. The first of each host is from before the load.
    pub(crate) fn poll(&mut self, zero: Nanos) -> Vec<(usize, HostSample)> {
        let on_clock = |(host, sample): (usize, HostSample)| {
            (host, HostSample { at: Nanos(sample.at.0.saturating_sub(zero.0)), ..sample })
        };
        let before = std::mem::take(&mut self.before).into_iter().map(|(host, mut sample)| {
            // What rose before the load does not matter.
            sample.counters.rises.clear();
            (host, sample)
        });
        let new = self.reports.try_iter().filter_map(|report| match report {
            Report::Sample(host, sample) => Some((host, *sample)),
            Report::Ended(..) => None,
        });
        before.chain(new).map(on_clock).collect()
    }

    /// Keeps only the latest sample of each host: the load has not started yet.
    pub(crate) fn discard(&mut self) {
        for report in self.reports.try_iter() {
            if let Report::Sample(host, sample) = report {
                self.before.insert(host, *sample);
            }
        }
    }
}

impl Drop for RemoteHosts {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic in it has cost samples only.
            drop(thread.join());
        }
    }
}

fn thread_refused(error: &std::io::Error) -> UserError {
    let message = format!("this host did not let wavetank start a thread for samples: {error}");
    UserError::refused(Code::HostCannot, message, "look at `ulimit -u`")
}

fn unreachable(host: &str, reason: &str) -> UserError {
    let hint = format!("check that `ssh {host} true` works without a password, or leave out --observe");
    UserError::refused(Code::HostUnreachable, format!("cannot observe `{host}`: {reason}"), hint)
}

/// Samples all hosts until it is over.
fn sample_all(names: &[String], clock: Clock, over: &AtomicBool, to: &SyncSender<Report>) {
    let hosts: Vec<Host> = names.iter().map(Host::named).collect();
    let options = SshOptions { config: None, user: None, connect_timeout: CONNECT_TIMEOUT };
    let command = RemoteCommand { text: remote_sampler(Nanos::SECOND), ..RemoteCommand::default() };
    let mut samplers = vec![RemoteSampler::default(); hosts.len()];
    let mut take = |event: HostEvent<'_>| match event {
        HostEvent::Line { host, is_error: false, text } => {
            if let Some(sample) = samplers[host].add(text, clock.now()) {
                drop(to.try_send(Report::Sample(host, Box::new(sample))));
            }
        }
        HostEvent::Line { .. } => {}
        HostEvent::Ended { host, end } => {
            let reason = end.failure().unwrap_or_else(|| "its shell ended".to_owned());
            drop(to.try_send(Report::Ended(host, reason)));
        }
    };
    let is_over = || over.load(Ordering::Acquire);
    run_on_hosts(&hosts, (&command, &options), (hosts.len(), None), &is_over, &mut take);
}
