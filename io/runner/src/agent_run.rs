//! [`AgentRun`]: a run on an agent of a fleet, with its load threads, its spool and its reports.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use wavetank_driver::Clock;
use wavetank_engine::{HostInterval, LoadConfig};
use wavetank_fleet::{Agent, AgentAction};
use wavetank_journey::Journeys;
use wavetank_measure::Interval;
use wavetank_observe::{Observation, SampledHosts, Sampler, ThisHost, ThisHostSampler, process_usage};
use wavetank_pace::Partition;
use wavetank_plan::{AutomaticChoices, Guard, Plan, PlanShare, TargetUrl, adapt_to_host, lacking_for_share};
use wavetank_record::{
    AgentHealth, EndRunRequest, EventKind, EventLine, HostLine, IntervalExtras, IntervalLine, LoggedLine,
    Number, PlanDoc, PlanPackage,
};
use wavetank_store::{Spool, SpoolMeta};
use wavetank_units::{Nanos, Sentence, UserError, phrase, sentence};

use super::dns_refresh::DnsRefresher;
use super::fleet_package::unpacked;
use super::load_host::{AgentEvent, LoadHost, LoadReport};
use super::reachability::find_unreachable;
use super::sample::SampleStore;
use super::source_check::check_sources_bindable;
use super::usage_at_start::UsageAtStart;
use super::{Host, tls_client};

/// See the module's description.
pub(crate) struct AgentRun {
    plan: Arc<Plan>,
    plan_hash: String,
    load: LoadHost,
    /// Which run it is, and the agent's name.
    meta: SpoolMeta,
    spool: Spool,
    samples: SampleStore,
    /// What goes with the next interval.
    extras: IntervalExtras,
    clock: Clock,
    /// The zero of the run's clock, once it is agreed.
    zero: Option<Nanos>,
    usage: UsageAtStart,
    /// When that was.
    prepared: Nanos,
    /// Whether this host is sampled.
    samples_host: bool,
    /// Samples this host once the zero is known.
    sampler: Option<Sampler>,
}

impl AgentRun {
    /// Reads the `package` of an offer and prepares this host for its share. `meta` says which run
    /// it is. `dir` is the folder of the spool, and `guard` decides over targets.
    ///
    /// # Errors
    /// If the package is damaged, a target is not allowed, or this host lacks what its share needs:
    /// one line for each reason.
    pub(crate) fn prepare(
        package: &str,
        meta: SpoolMeta,
        dir: &Path,
        (guard, clock): (&Guard, Clock),
    ) -> Result<Self, Vec<String>> {
        let bytes =
            STANDARD.decode(package).map_err(|error| vec![format!("cannot read the plan: {error}")])?;
        let package = PlanPackage::decode(&bytes).map_err(|error| vec![error.to_string()])?;
        let plan_hash = PlanDoc::hash(&PlanDoc::new(&package.plan).to_yaml());
        let host = Host::inspect().map_err(lines)?;
        let plan = Arc::new(fit(&package, (&meta.agent, meta.share), &host, guard).map_err(lines)?);
        if package.checks_reach {
            let unreachable = find_unreachable(&plan);
            if !unreachable.is_empty() {
                return Err(unreachable);
            }
        }
        let tls = tls_client(&plan).map_err(lines)?;
        let mut journeys = Journeys::new(&plan, package.tables).map_err(lines)?;
        journeys.set_initial_variables(&unpacked(package.variables));
        let config = LoadConfig {
            cpus: host.facts.cpus.clone(),
            ports: host.source_ports(),
            namespaces: Vec::new(),
            features: host.found.features,
            tls,
            journeys,
        };
        let spool =
            Spool::create(dir, &meta).map_err(|problem| vec![format!("cannot keep a spool: {problem}")])?;
        let mut load = LoadHost::new(Arc::clone(&plan), clock, config);
        load.renew(DnsRefresher::start(&plan, guard, "wavetank run"));
        Ok(Self {
            samples: SampleStore::new(&plan),
            extras: IntervalExtras::default(),
            usage: UsageAtStart::now(),
            prepared: clock.now(),
            samples_host: package.samples_hosts,
            sampler: None,
            zero: None,
            plan,
            plan_hash,
            load,
            meta,
            spool,
            clock,
        })
    }

    /// Number of the run.
    pub(crate) const fn id(&self) -> u64 {
        self.meta.run.0
    }

    /// Starts the load threads of `share`. They are ready some turns later.
    pub(crate) fn start_threads(&mut self, share: Partition, agent: &mut Agent) {
        let action = AgentAction::Prepare { plan_hash: self.plan_hash.clone(), share };
        let _ = self.load.execute(action, agent);
    }

    /// Carries out what `agent` decided. What is not the load's or the spool's is returned.
    pub(crate) fn execute(&mut self, action: AgentAction, agent: &mut Agent) -> Option<AgentAction> {
        if let AgentAction::StartAt(zero) = action {
            self.zero = Some(zero);
            self.start_sampling(zero);
        }
        self.load.execute(action, agent)
    }

    /// Samples this host each second from now on, as a run on one host does. The load threads
    /// exist.
    fn start_sampling(&mut self, zero: Nanos) {
        if !self.samples_host || self.sampler.is_some() {
            return;
        }
        let clock = self.clock;
        let this = Some(ThisHost::Whole(Box::new(ThisHostSampler::new())));
        let hosts = SampledHosts { this, others: Vec::new() };
        self.sampler = Some(Sampler::start(move || Nanos(clock.now().0.saturating_sub(zero.0)), hosts, None));
    }

    /// Whether load threads exist, so that [`Self::turn`] waits for them.
    pub(crate) const fn has_threads(&self) -> bool {
        self.load.has_threads()
    }

    /// Hears the load threads, waiting at most `wait`, and passes their reports on to `agent`.
    pub(crate) fn turn(&mut self, wait: Duration, agent: &mut Agent) {
        for report in self.load.turn(wait) {
            let now = self.clock.now();
            match report {
                LoadReport::Prepared => agent.handle_prepared(Ok(self.plan_hash.clone()), now),
                LoadReport::Draining => agent.handle_draining(now),
                LoadReport::Finished => self.finish(agent),
                LoadReport::Event(event) => self.note(event, agent),
            }
        }
        if !self.plan.shared.rendezvous.is_empty() {
            agent.handle_waiting(self.load.waiting());
        }
    }

    /// The agent's own copy of its intervals.
    pub(crate) const fn spool(&self) -> &Spool {
        &self.spool
    }

    /// The line of a sealed interval; `None` if it is not stored.
    pub(crate) fn line(&self, seq: u64) -> Option<String> {
        self.spool.line(seq)
    }

    /// The archive has all intervals: the spool is not needed any more.
    pub(crate) fn delete_spool(self) -> Option<String> {
        self.spool.delete().err().map(|problem| problem.to_string())
    }

    /// The load has ended, and its last interval is sealed.
    fn finish(&mut self, agent: &mut Agent) {
        // The last interval took its samples, unless there was none.
        drop(self.sampled());
        for update in self.load.finish_dns_refresh() {
            self.event(update.kind(), update.text().clone());
        }
        // If the end cannot be stored, a restarted agent takes it for a crash.
        let _ = self.spool.sync();
        agent.handle_finished(self.spool.digest(), self.clock.now());
        if let Some(cause) = agent.end_cause() {
            let _ = self.spool.record_end(cause, agent.adjustments());
        }
    }

    fn note(&mut self, event: AgentEvent, agent: &mut Agent) {
        match event {
            AgentEvent::Interval(merged) => self.interval(*merged, agent),
            AgentEvent::Opened(memory) => self.extras.memory = memory,
            AgentEvent::Drained(at) => self.extras.drained_ns = Some(at.0),
            AgentEvent::EndRun(wish) => {
                self.extras.end_run = Some(EndRunRequest { scenario: wish.scenario, failed: wish.failed });
            }
            AgentEvent::Names(updates) => {
                for update in updates {
                    self.event(update.kind(), update.text().clone());
                }
            }
            AgentEvent::DrainOver => {
                let text = phrase!("the drain limit was reached; unanswered requests stay open");
                self.event(EventKind::DrainOver, text);
            }
            AgentEvent::ThreadFailed(thread, why) => {
                self.event(EventKind::ThreadFailed, sentence!("load thread {thread} failed: {why}"));
            }
        }
    }

    /// Stores an interval with what goes with it, and reports it.
    fn interval(&mut self, merged: HostInterval, agent: &mut Agent) {
        let HostInterval { interval, samples, slow, logs, accounting, .. } = merged;
        let mut extras = mem::take(&mut self.extras);
        extras.samples = self.samples.add(&self.plan, &samples, &slow);
        extras.logs.extend(logs.0.into_iter().map(|line| LoggedLine {
            phase: line.key.phase,
            at_ns: line.at.0,
            text: line.text,
        }));
        extras.logs_dropped += logs.1;
        extras.accounting.extend(accounting);
        extras.host_samples = self.sampled().into_iter().filter_map(host_line).collect();
        let now = self.clock.now();
        extras.health = Some(health(&self.usage, now - self.prepared));
        if let Some(at) = first_sent(&interval).zip(self.zero).map(|(late, zero)| zero.after(late)) {
            agent.handle_first_sent(at);
        }
        let SpoolMeta { agent: name, epoch, .. } = &self.meta;
        let seq = self.spool.intervals();
        let line = IntervalLine::encode_interval_with_extras(name, *epoch, seq, &interval, &extras);
        match self.spool.append(now, &line) {
            Ok(seq) => agent.handle_sealed(seq, now),
            Err(_) => agent.handle_unstored(seq, now),
        }
    }

    /// Returns what was sampled since the last interval; with the last interval all that remains.
    fn sampled(&mut self) -> Vec<Observation> {
        if self.load.is_finishing() {
            return self.sampler.take().map(Sampler::end).unwrap_or_default();
        }
        self.sampler.iter().flat_map(Sampler::poll).collect()
    }

    fn event(&mut self, kind: EventKind, text: Sentence) {
        let now = self.clock.now() - self.zero.unwrap_or(Nanos::ZERO);
        self.extras.events.push(EventLine::new(now, kind, text));
    }
}

/// Returns a sample of this host as a line.
fn host_line(seen: Observation) -> Option<HostLine> {
    match seen {
        Observation::Host(sample) => Some(HostLine { sample: *sample, ..HostLine::default() }),
        Observation::Other(..) | Observation::Target(_) | Observation::NoCount { .. } => None,
    }
}

/// Returns how late the first request began, if the interval has one: the load of all agents has
/// one schedule, so this is how far this agent's clock is off.
fn first_sent(interval: &Interval) -> Option<Nanos> {
    let least =
        interval.phases.iter().filter(|phase| !phase.lag.is_empty()).map(|phase| phase.lag.min()).min()?;
    Some(Nanos(i64::try_from(least).unwrap_or(i64::MAX)))
}

/// Returns the plan as this host carries out its share.
fn fit(
    package: &PlanPackage,
    (name, share): (&str, Partition),
    host: &Host,
    guard: &Guard,
) -> Result<Plan, UserError> {
    let plan = &package.plan;
    for target in &plan.targets {
        let host = TargetUrl::parse(&target.url).map_or_else(|_| target.name.clone(), |url| url.host);
        for address in plan.connect_addresses(target) {
            guard.check(&host, *address, "wavetank run")?;
        }
    }
    let own_sources = package.sources.iter().find(|(agent, _)| agent == name).map(|(_, own)| own.clone());
    let plan = &Plan { sources: own_sources.unwrap_or_else(|| plan.sources.clone()), ..plan.clone() };
    check_sources_bindable(plan)?;
    let automatic = AutomaticChoices { threads: package.automatic_threads, engine: package.automatic_engine };
    let share = PlanShare::new(share.width, share.of).unwrap_or(PlanShare::WHOLE);
    let plan = adapt_to_host(plan, share, &host.facts, automatic)?;
    UserError::combine(lacking_for_share(&plan, share, &host.facts, automatic)).map_or(Ok(plan), Err)
}

/// Returns an error as lines for the controller's user.
fn lines(error: UserError) -> Vec<String> {
    let line = |error: UserError| format!("{} ({})", error.message, error.hint);
    error.one_by_one().into_iter().map(line).collect()
}

/// The usage of this host since `start`, over `elapsed`.
fn health(start: &UsageAtStart, elapsed: Nanos) -> AgentHealth {
    let (user, system) = start.cpu_s();
    AgentHealth {
        cpu_user_s: Number(user),
        cpu_system_s: Number(system),
        cpu_over_s: Some(Number(elapsed.0 as f64 / 1e9)),
        peak_rss_bytes: process_usage().peak_rss_bytes,
        steal: start.steal().map(Number),
        throttled_ns: start.throttling().map(|throttling| throttling.stopped.0.unsigned_abs()),
        ..AgentHealth::default()
    }
}
