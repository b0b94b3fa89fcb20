//! [`Sampler`]: takes samples once a second during a run, in threads separate from the load
//! threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wavetank_measure::{HostSample, TargetSample};
use wavetank_units::Nanos;

use crate::{HostSampler, PollResult, TargetPollers, ThisHostSampler, host_sample};

/// Maximum backlog of unread samples, in seconds. Samples beyond it are dropped; a second without a
/// sample shows up as such.
const WAITING_SECONDS: usize = 32;

/// One observation.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// This host.
    Host(Box<HostSample>),
    /// Another host on this machine, by its index among the sampled hosts.
    Other(usize, Box<HostSample>),
    /// The target's own count.
    Target(TargetSample),
    /// The target does not report its count and is not asked again.
    NoCount {
        /// Whether a request was sent.
        sent: bool,
        /// Whether it was answered with something else.
        answered: bool,
    },
}

/// How this host is sampled.
#[derive(Clone, Debug)]
pub enum ThisHost {
    /// Sockets, memory and CPUs only: a lab samples each of its hosts itself.
    Sockets,
    /// With counters, limits and connections.
    Whole(Box<ThisHostSampler>),
}

impl ThisHost {
    fn sample(&mut self, now: impl Fn() -> Nanos) -> HostSample {
        match self {
            Self::Sockets => host_sample(now),
            Self::Whole(sampler) => sampler.sample(now),
        }
    }
}

/// The hosts and processes that are sampled in addition to the target.
#[derive(Debug, Default)]
pub struct SampledHosts {
    /// How this host is sampled, if it is.
    pub this: Option<ThisHost>,
    /// Hosts of a lab on this machine.
    pub others: Vec<HostSampler>,
}

/// Threads that take samples at the end of each second on the run clock, when load threads seal
/// their intervals. One thread samples this host. Another one polls the target, so that a slow
/// target does not delay the first thread.
#[derive(Debug)]
pub struct Sampler {
    seen: Receiver<Observation>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Sampler {
    /// Starts sampling immediately and then each second. `now` reads the run clock. `asker` polls
    /// the target, if the target is to be polled. If no thread can be created, there are no samples
    /// and the load continues.
    pub fn start(
        now: impl Fn() -> Nanos + Clone + Send + 'static,
        watched: SampledHosts,
        asker: Option<TargetPollers>,
    ) -> Self {
        let SampledHosts { mut this, mut others } = watched;
        let (report, seen) = sync_channel(WAITING_SECONDS * (2 + others.len()));
        let over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        // The first sample comes before the load and before the connection to the target's count.
        // It includes neither.
        let mut look = {
            let now = now.clone();
            move |report: &SyncSender<Observation>| {
                let this = this.as_mut().map(|this| this.sample(&now));
                let mut sending = Vec::new();
                for (number, other) in others.iter_mut().enumerate() {
                    let Some(sample) = other.sample(&now) else { continue };
                    if other.is_sending() {
                        sending.push(sample.clone());
                    }
                    drop(report.try_send(Observation::Other(number, Box::new(sample))));
                }
                if let Some(this) = this {
                    drop(report.try_send(Observation::Host(Box::new(with_sockets_of(this, &sending)))));
                }
            }
        };
        look(&report);
        // The first count of the target comes before the load, which does not wait for the samples.
        if let Some(mut asker) = asker {
            let clock = now.clone();
            let ask = move |report: &SyncSender<Observation>| match asker.poll(&clock) {
                PollResult::Reported(sample) => {
                    drop(report.try_send(Observation::Target(sample)));
                    true
                }
                PollResult::Silent => true,
                PollResult::Foreign { sent, answered } => {
                    drop(report.try_send(Observation::NoCount { sent, answered }));
                    false
                }
            };
            threads.extend(each_second("truth", now.clone(), &over, report.clone(), ask));
        }
        let mut first = true;
        let look = move |report: &SyncSender<Observation>| {
            if !std::mem::take(&mut first) {
                look(report);
            }
            true
        };
        threads.extend(each_second("host", now, &over, report, look));
        Self { seen, over, threads }
    }

    /// Returns the observations since the last call.
    pub fn poll(&self) -> impl Iterator<Item = Observation> {
        self.seen.try_iter()
    }

    /// Stops sampling; returns the observations since the last call.
    pub fn end(self) -> Vec<Observation> {
        self.over.store(true, Ordering::Release);
        for thread in self.threads {
            thread.thread().unpark();
            // The thread has sent everything, or panicked and sent nothing. Either way the load is
            // not affected.
            drop(thread.join());
        }
        self.seen.try_iter().collect()
    }
}

/// Returns the sample of `this` host with the sockets of all sending hosts, if the load comes from
/// other networks.
fn with_sockets_of(this: HostSample, sending: &[HostSample]) -> HostSample {
    if sending.is_empty() {
        return this;
    }
    let sum = |of: fn(&HostSample) -> u64| sending.iter().map(of).sum();
    HostSample {
        tcp_inuse: sum(|one| one.tcp_inuse),
        tcp6_inuse: sum(|one| one.tcp6_inuse),
        tcp_tw: sum(|one| one.tcp_tw),
        tcp_established: sum(|one| one.tcp_established),
        listen_overflows: sum(|one| one.listen_overflows),
        net_in_bytes: sum(|one| one.net_in_bytes),
        net_out_bytes: sum(|one| one.net_out_bytes),
        ..this
    }
}

/// Starts a thread that calls `look` now and at each whole second, until it returns false or
/// sampling ends.
fn each_second(
    name: &str,
    now: impl Fn() -> Nanos + Send + 'static,
    over: &Arc<AtomicBool>,
    report: SyncSender<Observation>,
    mut look: impl FnMut(&SyncSender<Observation>) -> bool + Send + 'static,
) -> Option<JoinHandle<()>> {
    let over = Arc::clone(over);
    let run = move || {
        while look(&report) && !over.load(Ordering::Acquire) {
            let due = Nanos((now().0.div_euclid(Nanos::SECOND.0) + 1) * Nanos::SECOND.0);
            while let left @ 1.. = due.since(now()) {
                if over.load(Ordering::Acquire) {
                    return;
                }
                thread::park_timeout(Duration::from_nanos(left));
            }
        }
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).ok()
}
