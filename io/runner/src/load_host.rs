//! [`LoadHost`]: the load threads of this host, as an agent commands them.
//!
//! An agent's state machine decides; this executes its decisions. The load ends by itself when the
//! plan is over, and the agent is notified.

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::{Clock, Errno, StartFault};
use wavetank_engine::{
    Collector, Command, EndOfRun, FleetQuorum, FleetRelease, HostInterval, LoadConfig, LoadThreads, Message,
    NewShare, PhaseCount,
};
use wavetank_fleet::{Agent, AgentAction, PhaseUsers, Quorum, Release, WaitingUsers};
use wavetank_pace::Partition;
use wavetank_plan::{EngineChoice, Plan};
use wavetank_record::ConnectionMemory;
use wavetank_units::Nanos;

use super::dns_refresh::{DnsRefresher, DnsUpdate};
use super::memory_growth::MemoryGrowth;

/// How far ahead an instant is chosen that all load threads are to meet.
const RELEASE_LEAD: Nanos = Nanos::from_millis(5);

/// What the one who runs the agent must know.
pub(crate) enum AgentEvent {
    /// An interval of all threads is complete.
    Interval(Box<HostInterval>),
    /// Connections required before the load are open; holds the memory they use in this process.
    Opened(Option<ConnectionMemory>),
    /// No request is open any more; the last one was resolved at this instant of the run's clock.
    Drained(Nanos),
    /// What became of names that are looked up again.
    Names(Vec<DnsUpdate>),
    /// A journey wants the run to end.
    EndRun(EndOfRun),
    /// The drain reached its time limit with open requests.
    DrainOver,
    /// The driver or process of a thread failed; the text is the reason.
    ThreadFailed(u16, String),
}

/// What the load threads report.
pub(crate) enum LoadReport {
    /// All are ready.
    Prepared,
    /// Nothing new is sent any more.
    Draining,
    /// They have ended.
    Finished,
    /// Something for the log of the run.
    Event(AgentEvent),
}

/// See the module's description.
pub(crate) struct LoadHost {
    plan: Arc<Plan>,
    /// The process's clock, on which the fleet agrees.
    clock: Clock,
    config: LoadConfig,
    load: Option<Load>,
    reports: Vec<LoadReport>,
    /// Names that are looked up again, if any are.
    dns_refresher: Option<DnsRefresher>,
}

/// The load threads and what is known of them.
struct Load {
    threads: LoadThreads,
    collector: Collector,
    /// Zero of the run's clock, once it is agreed.
    zero: Option<Nanos>,
    ready: usize,
    /// Connections that were open when their threads were ready.
    opened: u64,
    growth: MemoryGrowth,
    drained: usize,
    resolved_last: Nanos,
    finishing: bool,
}

impl LoadHost {
    /// Prepares to carry out `plan`. Nothing is started yet.
    pub(crate) fn new(plan: Arc<Plan>, clock: Clock, config: LoadConfig) -> Self {
        Self { plan, clock, config, load: None, reports: Vec::new(), dns_refresher: None }
    }

    /// Names are looked up again from now on.
    pub(crate) fn renew(&mut self, dns_refresher: Option<DnsRefresher>) {
        self.dns_refresher = dns_refresher;
    }

    /// Stops waiting for DNS responses and returns what remains to be reported.
    pub(crate) fn finish_dns_refresh(&mut self) -> Vec<DnsUpdate> {
        self.dns_refresher.take().map(DnsRefresher::end).unwrap_or_default()
    }

    /// Whether load threads exist, so that [`Self::turn`] waits for them.
    pub(crate) const fn has_threads(&self) -> bool {
        self.load.is_some()
    }

    /// Whether all load threads end now: the interval that they seal is the last one.
    pub(crate) fn is_finishing(&self) -> bool {
        self.load.as_ref().is_none_or(|load| load.finishing)
    }

    /// Carries out what `agent` decided. A message to the controller and what concerns the spool is
    /// returned: it is the caller's.
    pub(crate) fn execute(&mut self, action: AgentAction, agent: &mut Agent) -> Option<AgentAction> {
        match action {
            AgentAction::Prepare { share, .. } => {
                if let Err(line) = self.prepare(share) {
                    agent.handle_prepared(Err(vec![line]), self.clock.now());
                }
            }
            AgentAction::StartAt(zero) => {
                if let Some(load) = &mut self.load {
                    load.zero = Some(zero);
                    load.threads.broadcast(Command::Start(zero));
                }
            }
            AgentAction::Change { at, phase, change } => {
                self.broadcast(Command::Change { at, phase, change: change.into() });
            }
            AgentAction::Drain => self.drain(),
            AgentAction::Stop => self.finish(),
            AgentAction::Release(release) => self.release(release),
            AgentAction::Rebalance { phase, share } => {
                if let Some(phase) = self.plan.phases.get(usize::from(phase)) {
                    self.broadcast(Command::TakeShare(NewShare::new(&self.plan, phase.start, share)));
                }
            }
            AgentAction::Send(_) | AgentAction::Denied(_) | AgentAction::DeleteSpool => return Some(action),
        }
        None
    }

    /// Hears the load threads, waiting at most `wait`, and returns what they report.
    pub(crate) fn turn(&mut self, wait: Duration) -> Vec<LoadReport> {
        if let Some(load) = &self.load
            && let Some(message) = load.threads.message(wait)
        {
            self.handle_message(message);
        }
        self.update_addresses();
        self.check_end();
        std::mem::take(&mut self.reports)
    }

    /// New addresses go to the load threads, what is new of names to who runs the agent.
    fn update_addresses(&mut self) {
        let Some((ways, news)) = self.dns_refresher.as_mut().and_then(DnsRefresher::poll) else { return };
        if let Some(ways) = ways {
            self.broadcast(Command::UpdateAddresses(ways));
        }
        if !news.is_empty() {
            self.report_event(AgentEvent::Names(news));
        }
    }

    fn prepare(&mut self, share: Partition) -> Result<(), String> {
        match LoadThreads::prepare(&self.plan, share, self.clock, &self.config) {
            Ok(threads) => {
                // What threads take for themselves is there; the first few connections may be, too.
                let growth = MemoryGrowth::begin();
                self.load = Some(Load {
                    collector: Collector::new(threads.len() as u16),
                    threads,
                    zero: None,
                    ready: 0,
                    opened: 0,
                    growth,
                    drained: 0,
                    resolved_last: Nanos::ZERO,
                    finishing: false,
                });
            }
            Err(fault) => {
                let why = match fault {
                    StartFault::Reported(errno) => no_driver(self.plan.engine, errno),
                    StartFault::Refused(errno) => errno.to_string(),
                    StartFault::Crashed(crash) => crash.to_string(),
                };
                return Err(format!("cannot prepare load threads: {why}"));
            }
        }
        Ok(())
    }

    fn handle_message(&mut self, message: Message) {
        let Some(load) = &mut self.load else { return };
        match message {
            Message::Ready(_, opened) => {
                load.ready += 1;
                load.opened += opened;
                if load.ready == load.threads.len() {
                    let memory = load.growth.end(load.opened);
                    self.report_event(AgentEvent::Opened(memory));
                    self.reports.push(LoadReport::Prepared);
                }
            }
            Message::Sealed(sealed) => load.collector.sealed(*sealed),
            Message::Drained(_, at) => {
                load.drained += 1;
                load.resolved_last = load.resolved_last.max(at);
                if load.drained == load.threads.len() {
                    let resolved_last = load.resolved_last;
                    self.report_event(AgentEvent::Drained(resolved_last));
                    self.reports.push(LoadReport::Draining);
                    self.finish();
                }
            }
            Message::EndRun(wish) => self.report_event(AgentEvent::EndRun(wish)),
            Message::Finished(thread) => load.collector.thread_ended(thread),
            Message::Failed(thread, why) => {
                load.collector.thread_lost(thread);
                self.report_event(AgentEvent::ThreadFailed(thread, why));
                self.finish();
            }
        }
        self.collect();
    }

    /// Hand out complete intervals; when the last one is out, the agent has finished.
    fn collect(&mut self) {
        let Some(load) = &mut self.load else { return };
        while let Some(merged) = load.collector.poll() {
            self.reports.push(LoadReport::Event(AgentEvent::Interval(Box::new(merged))));
        }
        if load.collector.is_over()
            && let Some(load) = self.load.take()
        {
            load.threads.join();
            self.reports.push(LoadReport::Finished);
        }
    }

    /// The end of the plan's load and of its drain.
    fn check_end(&mut self) {
        let now = self.clock.now();
        let Some(Load { zero: Some(zero), finishing: false, .. }) = self.load else { return };
        let Some(end) = self.plan.load_end() else { return };
        if now >= zero.after(end) {
            self.reports.push(LoadReport::Draining);
        }
        if now >= zero.after(end).after(self.plan.drain) {
            self.report_event(AgentEvent::DrainOver);
            self.finish();
        }
    }

    /// Returns an instant a little ahead, so that every thread learns of it in time.
    fn soon(&self, zero: Nanos) -> Nanos {
        (self.clock.now() - zero).after(RELEASE_LEAD)
    }

    fn drain(&self) {
        if let Some(Load { zero: Some(zero), threads, .. }) = &self.load {
            threads.broadcast(Command::Drain(self.soon(*zero)));
        }
    }

    /// Returns the users that wait at rendezvous for those of other agents.
    pub(crate) fn waiting(&self) -> Vec<WaitingUsers> {
        let waiting = self.load.as_ref().map(|load| load.threads.waiting()).unwrap_or_default();
        waiting.into_iter().map(reported).collect()
    }

    fn release(&self, release: Release) {
        let Some(Load { zero: Some(zero), threads, .. }) = &self.load else { return };
        let Release { point, round, number, at, of, phase, by_wait } = release;
        threads.release(&FleetRelease { point, round, number, at: zero.after(at), of, phase, by_wait });
    }

    fn report_event(&mut self, event: AgentEvent) {
        self.reports.push(LoadReport::Event(event));
    }

    fn broadcast(&self, command: Command) {
        if let Some(load) = &self.load {
            load.threads.broadcast(command);
        }
    }

    /// End the load threads, all at one instant.
    fn finish(&mut self) {
        // Before the start the instant means nothing, and threads just end.
        let zero = self.load.as_ref().and_then(|load| load.zero).unwrap_or(Nanos::ZERO);
        let at = self.soon(zero);
        let Some(load) = &mut self.load else {
            return self.reports.push(LoadReport::Finished);
        };
        if !std::mem::replace(&mut load.finishing, true) {
            load.threads.broadcast(Command::Finish(at));
        }
    }
}

/// The load threads' report of waiting users as the controller's.
fn reported(users: wavetank_engine::WaitingUsers) -> WaitingUsers {
    let wavetank_engine::WaitingUsers { point, round, present, phase, quorum, is_over, releases, members } =
        users;
    let quorum = match quorum {
        FleetQuorum::Users(of) => Quorum::Users(of),
        FleetQuorum::Phase(phase) => Quorum::Phase(phase),
        FleetQuorum::Unknown => Quorum::Unknown,
    };
    let members =
        members.into_iter().map(|PhaseCount { phase, users }| PhaseUsers { phase, users }).collect();
    WaitingUsers { point, round, present, phase, quorum, is_over, releases, members }
}

/// Why a load thread has no sockets, with what would help where that is known.
fn no_driver(engine: EngineChoice, errno: Errno) -> String {
    match (engine, errno.symbol()) {
        (EngineChoice::Uring, Some("ENOMEM")) => {
            format!("{errno} for the rings of io_uring: raise `ulimit -l`, or use --engine epoll")
        }
        _ => errno.to_string(),
    }
}
