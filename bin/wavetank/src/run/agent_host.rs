//! [`AgentHost`]: the agent of this host, with its load threads.
//!
//! A run on one host is a fleet of one: the agent's state machine decides, and this executes its
//! decisions. The load ends by itself when the plan is over, and the state machine is notified.
//! Data of sealed intervals does not go through the link.

use std::sync::Arc;
use std::time::Duration;

use wavetank_driver::{Clock, Errno, StartFault};
use wavetank_engine::{Change, Collector, Command, EndOfRun, HostInterval, LoadConfig, LoadThreads, Message};
use wavetank_fleet::{Agent, AgentAction, AgentSetup};
use wavetank_link::AgentLink;
use wavetank_pace::Partition;
use wavetank_plan::{EngineChoice, Plan};
use wavetank_record::ConnectionMemory;
use wavetank_units::Nanos;

use super::dns_refresh::{DnsRefresher, DnsUpdate};
use super::memory_growth::MemoryGrowth;

/// How far ahead an instant is chosen that all load threads are to meet.
const TOLD_AHEAD: Nanos = Nanos::from_millis(5);

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

/// See the module's description.
pub(crate) struct AgentHost {
    agent: Agent,
    link: AgentLink,
    plan: Arc<Plan>,
    plan_hash: String,
    /// The process's clock, on which the fleet agrees.
    clock: Clock,
    means: LoadConfig,
    load: Option<Load>,
    /// Number of the next interval.
    seq: u64,
    happenings: Vec<AgentEvent>,
    /// Names that are looked up again, if any are.
    renewing: Option<DnsRefresher>,
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

impl AgentHost {
    pub(crate) fn new(
        link: AgentLink,
        plan: Arc<Plan>,
        plan_hash: &str,
        clock: Clock,
        means: LoadConfig,
    ) -> Self {
        let agent = Agent::new(AgentSetup::local(env!("CARGO_PKG_VERSION")), clock.now());
        let (plan_hash, happenings) = (plan_hash.to_owned(), Vec::new());
        let mut host = Self {
            agent,
            link,
            plan,
            plan_hash,
            clock,
            means,
            load: None,
            seq: 0,
            happenings,
            renewing: None,
        };
        host.agent.handle_connected(clock.now());
        host.act();
        host
    }

    /// Names are looked up again from now on.
    pub(crate) fn renew(&mut self, renewing: Option<DnsRefresher>) {
        self.renewing = renewing;
    }

    /// Stops waiting for DNS responses and returns what remains to be reported.
    pub(crate) fn finish_dns_refresh(&mut self) -> Vec<DnsUpdate> {
        self.renewing.take().map(DnsRefresher::end).unwrap_or_default()
    }

    /// New addresses go to the load threads, what is new of names to who runs the agent.
    fn hear_of_names(&mut self) {
        let Some((ways, news)) = self.renewing.as_mut().and_then(DnsRefresher::poll) else { return };
        if let Some(ways) = ways {
            self.tell(Command::UpdateAddresses(ways));
        }
        if !news.is_empty() {
            self.happenings.push(AgentEvent::Names(news));
        }
    }

    /// Hear the controller and the load threads, waiting at most `wait` for the latter; then act.
    pub(crate) fn turn(&mut self, wait: Duration) -> Vec<AgentEvent> {
        // With load threads their messages are waited for, without them the controller's.
        let mut link_wait = if self.load.is_none() { wait } else { Duration::ZERO };
        while let Ok(Some(message)) = self.link.receive(link_wait) {
            self.agent.handle_message(message, self.clock.now());
            link_wait = Duration::ZERO;
        }
        self.act();
        if let Some(load) = &self.load
            && let Some(message) = load.threads.message(wait)
        {
            self.hear(message);
        }
        self.hear_of_names();
        self.look_around();
        self.act();
        std::mem::take(&mut self.happenings)
    }

    fn act(&mut self) {
        while let Some(action) = self.agent.poll() {
            match action {
                // A message that cannot be delivered is repeated by the state machine, or its
                // receiver is gone.
                AgentAction::Send(message) => drop(self.link.send(message)),
                AgentAction::Prepare { share, .. } => self.prepare(share),
                AgentAction::StartAt(zero) => {
                    if let Some(load) = &mut self.load {
                        load.zero = Some(zero);
                        load.threads.broadcast(Command::Start(zero));
                    }
                }
                AgentAction::Change { at, change } => self.tell(Command::Change(
                    at,
                    match change {
                        wavetank_fleet::Change::Rate(rate) => Change::Rate(rate),
                        wavetank_fleet::Change::Users(users) => Change::Users(users),
                    },
                )),
                AgentAction::Drain => self.drain(),
                AgentAction::Stop => self.finish(),
                // The machine refuses new shares for a host without this capability. An agent in
                // its controller's process is never denied and has no spool.
                AgentAction::Rebalance { .. } | AgentAction::Denied(_) | AgentAction::DeleteSpool => {}
            }
        }
    }

    fn prepare(&mut self, share: Partition) {
        match LoadThreads::prepare(&self.plan, share, self.clock, &self.means) {
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
                    StartFault::Told(errno) => no_driver(self.plan.engine, errno),
                    StartFault::Refused(errno) => errno.to_string(),
                    StartFault::Crashed(crash) => crash.to_string(),
                };
                let line = format!("cannot prepare load threads: {why}");
                self.agent.handle_prepared(Err(vec![line]), self.clock.now());
            }
        }
    }

    fn hear(&mut self, message: Message) {
        let Some(load) = &mut self.load else { return };
        let now = self.clock.now();
        match message {
            Message::Ready(_, opened) => {
                load.ready += 1;
                load.opened += opened;
                if load.ready == load.threads.len() {
                    self.happenings.push(AgentEvent::Opened(load.growth.end(load.opened)));
                    self.agent.handle_prepared(Ok(self.plan_hash.clone()), now);
                }
            }
            Message::Sealed(sealed) => load.collector.sealed(*sealed),
            Message::Drained(_, at) => {
                load.drained += 1;
                load.resolved_last = load.resolved_last.max(at);
                if load.drained == load.threads.len() {
                    self.happenings.push(AgentEvent::Drained(load.resolved_last));
                    self.agent.handle_draining(now);
                    self.finish();
                }
            }
            Message::EndRun(wish) => self.happenings.push(AgentEvent::EndRun(wish)),
            Message::Finished(thread) => load.collector.thread_ended(thread),
            Message::Failed(thread, why) => {
                load.collector.thread_lost(thread);
                self.happenings.push(AgentEvent::ThreadFailed(thread, why));
                self.finish();
            }
        }
        self.collect();
    }

    /// Hand out complete intervals; when the last one is out, the agent has finished.
    fn collect(&mut self) {
        let Some(load) = &mut self.load else { return };
        let now = self.clock.now();
        while let Some(merged) = load.collector.poll() {
            self.happenings.push(AgentEvent::Interval(Box::new(merged)));
            self.agent.handle_sealed(self.seq, now);
            self.seq += 1;
        }
        if load.collector.is_over()
            && let Some(load) = self.load.take()
        {
            load.threads.join();
            self.agent.handle_finished("", now);
        }
    }

    /// Deadlines: the machine's, and the end of the plan's drain.
    fn look_around(&mut self) {
        let now = self.clock.now();
        if self.agent.poll_timeout().is_some_and(|at| at <= now) {
            self.agent.handle_timeout(now);
        }
        let Some(Load { zero: Some(zero), finishing: false, .. }) = self.load else { return };
        let Some(end) = self.plan.load_end() else { return };
        if now >= zero.after(end) {
            self.agent.handle_draining(now);
        }
        if now >= zero.after(end).after(self.plan.drain) {
            self.happenings.push(AgentEvent::DrainOver);
            self.finish();
        }
    }

    /// Now and a little, so that every thread hears of the instant before it comes.
    fn soon(&self, zero: Nanos) -> Nanos {
        (self.clock.now() - zero).after(TOLD_AHEAD)
    }

    fn drain(&self) {
        if let Some(Load { zero: Some(zero), threads, .. }) = &self.load {
            threads.broadcast(Command::Drain(self.soon(*zero)));
        }
    }

    fn tell(&self, command: Command) {
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
            return self.agent.handle_finished("", self.clock.now());
        };
        if !std::mem::replace(&mut load.finishing, true) {
            load.threads.broadcast(Command::Finish(at));
        }
    }
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
