//! Records samples taken during the load in the ledger, and immediately in the archive, so that a
//! killed run has them.

use std::cell::RefCell;

use wavetank_measure::UnresponsiveDetector;
use wavetank_observe::{Observation, Sampler};
use wavetank_record::{EventKind, EventLine, HostLine, Setup};
use wavetank_units::phrase;

use super::RunController;
use crate::SamplingConfig;
use crate::remote_hosts::RemoteHosts;

impl<'a> RunController<'a> {
    /// Adds sampling during the load.
    pub(crate) fn with_sampling(mut self, sampling: SamplingConfig<'a>) -> Self {
        self.sampling = sampling;
        self.silence = sampling.silence.then(|| UnresponsiveDetector::for_plan(&self.plan)).flatten();
        self
    }

    /// What was seen since the last time.
    pub(super) fn record_samples(&mut self) {
        let seen: Vec<_> = self.sampler.as_ref().map(|sampler| sampler.poll().collect()).unwrap_or_default();
        self.take_seen(seen);
        self.take_remote();
    }

    /// Records samples of hosts that are observed over ssh.
    fn take_remote(&mut self) {
        let Some(remote) = self.sampling.remote else { return };
        let mut remote = remote.borrow_mut();
        if !self.is_committed {
            remote.discard();
            return;
        }
        let now = self.clock.now();
        for (host, sample) in remote.poll(self.zero) {
            let name = &remote.names()[host];
            self.log.ledger.observe_other(name, &sample);
            let problem = self.log.archive.as_mut().and_then(|archive| archive.other_host(name, &sample));
            self.log.store_problem(problem, now);
        }
    }

    /// Counts samples that the agent `name` took of its host. The archive has them in the lines of
    /// its intervals. Of a host that is observed over ssh as well, those samples count.
    pub(super) fn take_agent_samples(&mut self, name: &str, lines: Vec<HostLine>) {
        let is_known =
            |remote: &RefCell<RemoteHosts>| remote.borrow().names().iter().any(|known| known == name);
        if self.sampling.remote.is_some_and(is_known) {
            return;
        }
        for line in lines {
            self.log.ledger.observe_other(name, &line.sample);
        }
    }

    /// The load is over: look no more.
    pub(super) fn stop_sampling(&mut self) {
        let seen = self.sampler.take().map(Sampler::end).unwrap_or_default();
        self.take_seen(seen);
        self.take_remote();
    }

    fn take_seen(&mut self, seen: Vec<Observation>) {
        let now = self.clock.now();
        for one in seen {
            let problem = match one {
                Observation::Host(sample) => {
                    self.log.ledger.observe_host(&sample);
                    self.log.archive.as_mut().and_then(|archive| archive.host(&sample))
                }
                Observation::Other(number, sample) => {
                    let name = &self.sampling.hosts[number].0;
                    self.log.ledger.observe_other(name, &sample);
                    self.log.archive.as_mut().and_then(|archive| archive.other_host(name, &sample))
                }
                Observation::Target(sample) => {
                    self.log.ledger.observe_target(sample);
                    self.log.archive.as_mut().and_then(|archive| archive.truth(sample))
                }
                Observation::NoCount { sent, answered } => {
                    self.no_count(sent, answered);
                    None
                }
            };
            self.log.store_problem(problem, now);
        }
    }

    /// The target does not report its own count. It was sent at most one request, which it may have
    /// counted.
    fn no_count(&mut self, sent: bool, answered: bool) {
        let (sent, done) = (u64::from(sent), u64::from(answered));
        let setup = Setup { sent, done, failed: sent - done };
        self.log.setup = setup;
        let now = self.clock.now();
        let text = phrase!("the target does not report its connections: only `wavetank serve` does");
        let event =
            EventLine { setup: Some(setup), ..EventLine::new(now, EventKind::TargetReportsNothing, text) };
        self.log.event(event, now);
    }
}
