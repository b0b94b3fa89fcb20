//! [`RunController`]: controls a run and keeps its log.
//!
//! It receives what the agent seals, passes it on (ledger, archive, terminal) and decides when the
//! run must end early. It never touches the load: it can only ask the agent to drain or to stop.

mod agents;
mod control;
mod events;
mod fleet;
mod fleet_outcome;
mod fleet_result;
mod journeys;
mod lab;
mod load_result;
mod metrics;
mod names;
mod outcome;
mod run_log;
mod samples;

use std::sync::Arc;
use std::time::Duration;

use wavetank_diagnose::RunEnd;
use wavetank_driver::{Clock, Signals};
use wavetank_engine::HostInterval;
use wavetank_fleet::{Controller, ControllerAction, ControllerNotice, Outcome};
use wavetank_measure::{Interval, Ledger, UnresponsiveDetector};
use wavetank_observe::Sampler;
use wavetank_plan::Plan;
use wavetank_plan::constants::SIGNAL_DRAIN_MAX;
use wavetank_record::{EventKind, Setup};
use wavetank_store::ArchiveWriter;
use wavetank_units::{Nanos, Sentence, UserError, phrase, sentence};

use super::SamplingConfig;
use super::console::RunConsole;
use super::dns_refresh::DnsRefresher;
use super::event_runner::EventRunner;
use super::live_metrics::LiveMetrics;
use super::load_host::AgentEvent;
use super::run_control::RunControl;
use super::sample::{SampleStore, note_fault};
pub(crate) use agents::LoadSide;
use agents::{Agents, run_setup};
pub(crate) use fleet_result::FleetResult;
pub use fleet_result::end_doc;
pub(crate) use load_result::LoadResult;
use run_log::{AddressChanges, LogLineCount, RunLog};

/// How long the loop waits for a message before it looks at signals and deadlines.
const POLL_WAIT: Duration = Duration::from_millis(20);

/// See the module's description.
pub(crate) struct RunController<'a> {
    plan: Arc<Plan>,
    /// The process's clock until the start is agreed, then the run's.
    clock: Clock,
    controller: Controller,
    agents: Agents,
    signals: Signals,
    signals_seen: u32,
    /// The run ends before its time.
    ending_early: bool,
    /// When the first phase begins.
    begins: Nanos,
    log: RunLog<'a>,
    outcome: Option<Outcome>,
    /// The zero of the run's clock on the process's.
    zero: Nanos,
    /// Looks at this host and at the target's count once the load is agreed on.
    sampler: Option<Sampler>,
    /// What it looks at.
    sampling: SamplingConfig<'a>,
    /// The start of the load is agreed.
    is_committed: bool,
    /// What the plan's events do to hosts.
    event_runner: Option<EventRunner>,
    /// Returns what is missing of the lab that the run goes to, if something is.
    lab_check: Option<&'a dyn Fn() -> Option<Sentence>>,
    /// When that is looked for next.
    lab_check_due: Nanos,
    /// Of a level of a search: whether the target answers anything at all.
    silence: Option<UnresponsiveDetector>,
    /// What other processes see of the run, and how they control it.
    control: Option<&'a RunControl<'a>>,
    /// The latest sealed interval, for them.
    latest: Option<Interval>,
    /// Where metrics go, if anywhere.
    metrics: Option<LiveMetrics>,
}

impl<'a> RunController<'a> {
    /// A run of `plan` by `side`. `clock` is the process's.
    pub(crate) fn new(
        plan: Arc<Plan>,
        plan_hash: &str,
        clock: Clock,
        side: LoadSide,
        signals: Signals,
        archive: Option<ArchiveWriter>,
        console: &'a mut dyn RunConsole,
    ) -> Self {
        let begins = plan.phases.iter().map(|phase| phase.start).min().unwrap_or(Nanos::ZERO);
        let setup = run_setup(&plan, plan_hash, &side);
        let agents = Agents::new(side, &plan, plan_hash, clock);
        Self {
            controller: Controller::new(setup, clock.now()),
            agents,
            signals_seen: 0,
            signals,
            ending_early: false,
            begins,
            log: RunLog {
                ledger: Ledger::new(&plan),
                ending: RunEnd::Finished,
                events: Vec::new(),
                archive,
                console,
                logged: LogLineCount::default(),
                moves: AddressChanges::default(),
                samples: SampleStore::new(&plan),
                lost: Vec::new(),
                accounting: Vec::new(),
                faults: Vec::new(),
                memory: None,
                setup: Setup::default(),
            },
            outcome: None,
            zero: Nanos::ZERO,
            sampler: None,
            sampling: SamplingConfig::default(),
            is_committed: false,
            event_runner: None,
            lab_check: None,
            lab_check_due: Nanos::ZERO,
            silence: None,
            control: None,
            latest: None,
            metrics: None,
            plan,
            clock,
        }
    }

    /// The same, with names that are looked up again.
    pub(crate) fn dns_refresher(mut self, dns_refresher: Option<DnsRefresher>) -> Self {
        if let Agents::Local(_, host) = &mut self.agents {
            host.renew(dns_refresher);
        }
        self
    }

    /// Until the run is over. Fails only if it could not begin: nothing was sent then.
    pub(crate) fn run(mut self) -> Result<LoadResult, UserError> {
        let outcome = loop {
            self.steer();
            if let Some(outcome) = self.outcome.take() {
                break outcome;
            }
            self.receive(POLL_WAIT);
            self.serve_requests();
            self.record_samples();
            self.check_signals();
            self.check_lab();
            self.run_due_events();
        };
        self.revert_events();
        self.seal_remaining();
        self.stop_sampling();
        self.end_log();
        self.end_names();
        self.end_metrics();
        self.log.console.clear_progress();
        let fleet = self.apply_fleet_outcome(&outcome)?;
        self.apply_outcome(&outcome)?;
        let RunLog { ledger, ending, events, samples, archive, lost, accounting, faults, memory, .. } =
            self.log;
        let setup = self.log.setup;
        Ok(LoadResult {
            ledger,
            ending,
            events,
            samples: samples.lines(),
            archive,
            started: outcome.started_at,
            lost,
            accounting,
            faults,
            memory,
            setup,
            fleet,
        })
    }

    /// Passes messages and timeouts to the controller's state machine, and executes its actions.
    fn steer(&mut self) {
        let now = self.now();
        if let Agents::Local(link, _) = &mut self.agents {
            while let Ok(Some((from, message))) = link.receive(Duration::ZERO) {
                self.controller.handle_message(from, message, now);
            }
        }
        if self.controller.poll_timeout().is_some_and(|at| at <= now) {
            self.controller.handle_timeout(now);
        }
        let mut committed = false;
        while let Some(action) = self.controller.poll() {
            match action {
                ControllerAction::Send { to, message } => self.agents.send(to, message),
                ControllerAction::Journal(record) => self.journal(&record),
                ControllerAction::Archive(outcome) => self.settle(&outcome),
                ControllerAction::Notify(notice) => {
                    committed |= matches!(notice, ControllerNotice::Committed(_));
                    self.notice(notice);
                }
            }
        }
        if committed {
            self.is_committed = true;
            // The agent receives the agreed instant immediately. On a busy host it would pass
            // before the samplers of a lab's hosts have started.
            self.receive(Duration::ZERO);
            self.sampler = super::sampling::start(&self.plan, self.clock, self.sampling);
        }
    }

    /// Hears the agents, waiting at most `wait`.
    fn receive(&mut self, wait: Duration) {
        match &mut self.agents {
            Agents::Local(_, host) => {
                for happening in host.turn(wait) {
                    self.note(happening);
                }
            }
            Agents::Remote(remote) => {
                let events = remote.turn(wait);
                self.note_remote(events);
            }
        }
    }

    fn notice(&mut self, notice: ControllerNotice) {
        match notice {
            ControllerNotice::Committed(zero) => {
                self.zero = zero;
                self.clock = self.clock.with_zero_at(zero);
            }
            ControllerNotice::Over(outcome) => self.outcome = Some(outcome),
            notice => self.fleet_notice(notice),
        }
    }

    fn note(&mut self, happening: AgentEvent) {
        match happening {
            AgentEvent::Interval(merged) => self.interval(*merged),
            AgentEvent::Opened(memory) => self.log.memory = memory,
            AgentEvent::Drained(resolved_last) => self.drained(resolved_last),
            AgentEvent::DrainOver => {
                self.event(
                    EventKind::DrainOver,
                    phrase!("the drain limit was reached; unanswered requests stay open"),
                );
            }
            AgentEvent::Names(news) => self.names(news),
            AgentEvent::EndRun(wish) => self.on_end_run_requested(wish),
            AgentEvent::ThreadFailed(thread, why) => {
                let text = sentence!("load thread {thread} failed: {why}");
                self.log.lost.push(text.clone());
                self.event(EventKind::ThreadFailed, text);
            }
        }
    }

    /// No request is open any more; the last one was resolved at `resolved_last`.
    fn drained(&mut self, resolved_last: Nanos) {
        // A phase that a number of requests ended, ended with the last of them
        // (`docs/measuring.md` §8).
        let now = self.clock.now();
        for (index, phase) in (0_u16..).zip(&Arc::clone(&self.plan).phases) {
            let by_count = phase.end().is_none_or(|end| now < end);
            if by_count && phase.is_counted() && !phase.warmup {
                self.phase_ended(index, resolved_last);
            }
        }
    }

    fn interval(&mut self, merged: HostInterval) {
        let HostInterval { interval, samples, slow, logs, accounting, .. } = merged;
        self.log(logs.0, logs.1);
        let now = self.clock.now();
        for text in accounting {
            debug_assert!(false, "{text}");
            self.accounting_broken(Sentence::quoted(text));
        }
        let problem = self.log.archive.as_mut().and_then(|archive| archive.interval(now, &interval));
        self.log.store_problem(problem, now);
        for sample in &samples {
            note_fault(&mut self.log.faults, sample.class, sample.detail.as_deref());
        }
        for line in self.log.samples.add(&self.plan, &samples, &slow) {
            let problem = self.log.archive.as_mut().and_then(|archive| archive.sample(&line));
            self.log.store_problem(problem, now);
        }
        self.sealed(&interval);
    }

    fn accounting_broken(&mut self, text: Sentence) {
        self.event(EventKind::AccountingBroken, text.clone());
        self.log.accounting.push(text);
    }

    /// Counts an interval of the whole run, shows it, and ends the run if it says so.
    fn sealed(&mut self, interval: &Interval) {
        if let Err(violation) = self.log.ledger.add(interval) {
            debug_assert!(false, "{violation}");
            self.event(EventKind::AccountingBroken, sentence!("{violation}"));
        }
        if let Some(silence) = &mut self.silence {
            silence.add(interval);
        }
        if self.control.is_some() {
            self.latest = Some(interval.clone());
            self.publish_state();
        }
        self.export(interval);
        if self.ending_early {
            return;
        }
        if interval.end() > self.begins {
            // At the seal itself the next phase has begun.
            let within = interval.end() - Nanos(1);
            let lost = self.log.ledger.totals().conns.lost;
            let held = self.plan.is_holding().then(|| (self.plan.held_at(within), lost));
            self.log.console.progress(interval, held);
        }
        if let Some(class) = self.log.ledger.hopeless() {
            self.event(
                EventKind::Hopeless,
                sentence!("nothing was done, every request failed: {}", class.name()),
            );
            self.end(RunEnd::Hopeless { class }, None);
        } else if let Some((condition, at)) = self.log.ledger.stop_fired() {
            let condition = condition.to_owned();
            self.event(EventKind::StopFired, sentence!("stop condition fired: {condition}"));
            self.end(RunEnd::StopFired { condition, at }, Some(self.plan.drain.min(SIGNAL_DRAIN_MAX)));
        } else if let Some(lasted) = self.silence.as_ref().and_then(UnresponsiveDetector::exceeded_for) {
            self.event(
                EventKind::Silent,
                sentence!("nothing was answered for {lasted}, which ends the level"),
            );
            self.end(RunEnd::Finished, None);
        }
    }

    fn check_signals(&mut self) {
        let received = self.signals.received();
        if received == self.signals_seen {
            return;
        }
        let first = !self.ending_early && received == 1;
        self.signals_seen = received;
        self.event(EventKind::SignalReceived, sentence!("signal {received}"));
        if first {
            self.log
                .console
                .info("stopping: waiting for open requests (at most 10 s; press again to stop immediately)");
            self.end(RunEnd::Signal, Some(self.plan.drain.min(SIGNAL_DRAIN_MAX)));
        } else {
            self.end(RunEnd::Signal, None);
        }
    }

    /// Ends the load early: drains for at most this long, or stops immediately.
    fn end(&mut self, ending: RunEnd, drain: Option<Nanos>) {
        self.log.ending = ending;
        if !std::mem::replace(&mut self.ending_early, true) {
            let now = self.clock.now();
            for index in 0..self.plan.phases.len() as u16 {
                self.phase_ended(index, now);
            }
        }
        match drain.filter(|&drain| drain > Nanos::ZERO) {
            Some(drain) => self.controller.drain(drain, self.now()),
            None => self.controller.stop(self.now()),
        }
    }

    /// Now on the process's clock, which is the fleet's.
    fn now(&self) -> Nanos {
        self.clock.now() + self.zero
    }
}
