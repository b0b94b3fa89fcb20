//! [`AgentHost`]: the agent of this host, with its load threads.
//!
//! A run on one host is a fleet of one: the agent's state machine decides, and this executes its
//! decisions. Data of sealed intervals does not go through the link.

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::Clock;
use wavetank_engine::LoadConfig;
use wavetank_fleet::{Agent, AgentAction, AgentSetup};
use wavetank_link::AgentLink;
use wavetank_plan::Plan;

use super::dns_refresh::{DnsRefresher, DnsUpdate};
use super::load_host::{AgentEvent, LoadHost, LoadReport};

/// See the module's description.
pub(crate) struct AgentHost {
    agent: Agent,
    link: AgentLink,
    plan_hash: String,
    /// The process's clock, on which the fleet agrees.
    clock: Clock,
    load: LoadHost,
    /// Number of the next interval.
    seq: u64,
}

impl AgentHost {
    pub(crate) fn new(
        link: AgentLink,
        plan: Arc<Plan>,
        plan_hash: &str,
        clock: Clock,
        config: LoadConfig,
    ) -> Self {
        let agent = Agent::new(AgentSetup::local(env!("CARGO_PKG_VERSION")), clock.now());
        let (plan_hash, load) = (plan_hash.to_owned(), LoadHost::new(plan, clock, config));
        let mut host = Self { agent, link, plan_hash, clock, load, seq: 0 };
        host.agent.handle_connected(clock.now());
        host.act();
        host
    }

    /// Names are looked up again from now on.
    pub(crate) fn renew(&mut self, dns_refresher: Option<DnsRefresher>) {
        self.load.renew(dns_refresher);
    }

    /// Stops waiting for DNS responses and returns what remains to be reported.
    pub(crate) fn finish_dns_refresh(&mut self) -> Vec<DnsUpdate> {
        self.load.finish_dns_refresh()
    }

    /// Hear the controller and the load threads, waiting at most `wait` for the latter; then act.
    pub(crate) fn turn(&mut self, wait: Duration) -> Vec<AgentEvent> {
        // With load threads their messages are waited for, without them the controller's.
        let mut link_wait = if self.load.has_threads() { Duration::ZERO } else { wait };
        while let Ok(Some(message)) = self.link.receive(link_wait) {
            self.agent.handle_message(message, self.clock.now());
            link_wait = Duration::ZERO;
        }
        self.act();
        let mut happenings = Vec::new();
        for report in self.load.turn(wait) {
            happenings.extend(self.report(report));
        }
        let now = self.clock.now();
        if self.agent.poll_timeout().is_some_and(|at| at <= now) {
            self.agent.handle_timeout(now);
        }
        self.act();
        happenings
    }

    /// Passes a report of the load threads on to the state machine. Returns what is for the log.
    fn report(&mut self, report: LoadReport) -> Option<AgentEvent> {
        let now = self.clock.now();
        match report {
            LoadReport::Prepared => self.agent.handle_prepared(Ok(self.plan_hash.clone()), now),
            LoadReport::Draining => self.agent.handle_draining(now),
            LoadReport::Finished => self.agent.handle_finished("", now),
            LoadReport::Event(event) => {
                if matches!(event, AgentEvent::Interval(_)) {
                    self.agent.handle_sealed(self.seq, now);
                    self.seq += 1;
                }
                return Some(event);
            }
        }
        None
    }

    fn act(&mut self) {
        while let Some(action) = self.agent.poll() {
            // A message that cannot be delivered is repeated by the state machine, or its receiver
            // is gone. An agent in its controller's process is never denied and has no spool.
            if let Some(AgentAction::Send(message)) = self.load.execute(action, &mut self.agent) {
                let _ = self.link.send(message);
            }
        }
    }
}
