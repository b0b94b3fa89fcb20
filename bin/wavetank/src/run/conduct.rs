//! [`Conductor`]: the control loop of a run on this host.
//!
//! It hears what load threads seal, hands it on (evaluation, archive, terminal) and decides when the run
//! is over. It never touches the load: threads are told only to start, to drain and to finish.

use std::sync::Arc;
use std::time::Duration;

use wavetank_diagnose::Ending;
use wavetank_driver::{Clock, Signals};
use wavetank_engine::{Collector, Command, LoadThreads, Merged, Message, Sample};
use wavetank_measure::{ErrorClass, Ledger};
use wavetank_plan::constants::SIGNAL_DRAIN_MAX;
use wavetank_plan::{Nanos, Plan};
use wavetank_record::{EventLine, Number, PHASE_ENDED, SampleLine};
use wavetank_store::{ArchiveWriter, StoreProblem};

use super::talk::Talk;

/// How long the loop waits for a message before it looks at signals and deadlines.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// What a run was made into.
pub(crate) struct Conducted {
    pub(crate) ledger: Ledger,
    pub(crate) ending: Ending,
    pub(crate) events: Vec<EventLine>,
    pub(crate) archive: Option<ArchiveWriter>,
    /// Threads whose intervals are missing, in words.
    pub(crate) lost: Vec<String>,
    /// What did not add up, in words.
    pub(crate) accounting: Vec<String>,
}

impl Conducted {
    /// No load was sent.
    pub(crate) fn nothing(plan: &Plan, ending: Ending, archive: Option<ArchiveWriter>) -> Self {
        let (events, lost, accounting) = (Vec::new(), Vec::new(), Vec::new());
        Self { ledger: Ledger::new(plan), ending, events, archive, lost, accounting }
    }
}

/// Where the run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// No new load; until then at most.
    Draining(Nanos),
    /// Threads were told to end.
    Finishing,
}

/// See the module's description.
pub(crate) struct Conductor<'a> {
    plan: Arc<Plan>,
    /// The run's clock.
    clock: Clock,
    threads: LoadThreads,
    collector: Collector,
    signals: Signals,
    signals_seen: u32,
    stage: Stage,
    drained: usize,
    resolved_last: Nanos,
    ending: Ending,
    ledger: Ledger,
    archive: Option<ArchiveWriter>,
    talk: &'a mut Talk,
    events: Vec<EventLine>,
    sampled: Vec<ErrorClass>,
    lost: Vec<String>,
    accounting: Vec<String>,
}

impl<'a> Conductor<'a> {
    /// Threads are prepared and told to start; `clock` is the run's.
    pub(crate) fn new(
        plan: Arc<Plan>,
        clock: Clock,
        threads: LoadThreads,
        signals: Signals,
        archive: Option<ArchiveWriter>,
        talk: &'a mut Talk,
    ) -> Self {
        Self {
            collector: Collector::new(threads.len()),
            ledger: Ledger::new(&plan),
            signals_seen: 0,
            stage: Stage::Running,
            drained: 0,
            resolved_last: Nanos::ZERO,
            ending: Ending::Finished,
            events: Vec::new(),
            sampled: Vec::new(),
            lost: Vec::new(),
            accounting: Vec::new(),
            plan,
            clock,
            threads,
            signals,
            archive,
            talk,
        }
    }

    /// Until every thread has ended.
    pub(crate) fn run(mut self) -> Conducted {
        while self.collector.any_running() {
            if let Some(message) = self.threads.message(LOOK_AROUND) {
                self.hear(message);
            }
            while let Some(merged) = self.collector.poll() {
                self.interval(merged);
            }
            self.look_around();
        }
        self.talk.settle();
        self.threads.join();
        if matches!(self.ending, Ending::Finished)
            && self.plan.phases.iter().any(|phase| phase.requests_max.is_some())
            && let Some(class) = self.ledger.only_class()
        {
            self.ending = Ending::Hopeless { class };
        }
        Conducted {
            ledger: self.ledger,
            ending: self.ending,
            events: self.events,
            archive: self.archive,
            lost: self.lost,
            accounting: self.accounting,
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Ready(_) => {}
            Message::Sealed(sealed) => self.collector.sealed(*sealed),
            Message::Drained(_, at) => {
                self.drained += 1;
                self.resolved_last = self.resolved_last.max(at);
                if self.drained == self.threads.len() {
                    self.counted_phases_end();
                    self.finish();
                }
            }
            Message::Finished(_) => self.collector.thread_ended(),
            Message::Failed(thread, errno) => {
                self.collector.thread_ended();
                self.event("thread_failed", format!("load thread {thread} failed: {errno}"));
                self.lost.push(format!("load thread {thread} failed: {errno}"));
                self.finish();
            }
        }
    }

    /// A phase bounded by a number of requests ends when its last request does (contract §8).
    fn counted_phases_end(&mut self) {
        let plan = Arc::clone(&self.plan);
        for (index, phase) in (0_u16..).zip(&plan.phases) {
            if phase.requests_max.is_some() && !phase.warmup {
                self.phase_ended(index, self.resolved_last);
            }
        }
    }

    fn interval(&mut self, merged: Merged) {
        let Merged { interval, samples, accounting, .. } = merged;
        self.accounting.extend(accounting);
        if let Err(violation) = self.ledger.add(&interval) {
            self.event("accounting_broken", violation.to_string());
        }
        let now = self.clock.now();
        let problem = self.archive.as_mut().and_then(|archive| archive.interval(now, &interval));
        self.store_problem(problem);
        for sample in samples {
            self.sample(&sample);
        }
        if self.stage == Stage::Finishing {
            return;
        }
        self.talk.progress(&interval);
        if let Some(class) = self.ledger.hopeless() {
            self.event("hopeless", format!("nothing was done, every request failed: {}", class.name()));
            self.stop(Ending::Hopeless { class }, Nanos::ZERO);
        } else if self.stage == Stage::Running
            && let Some((condition, at)) = self.ledger.stop_fired()
        {
            let condition = condition.to_owned();
            self.event("stop_fired", format!("stop condition fired: {condition}"));
            self.stop(Ending::StopFired { condition, at }, self.plan.drain.min(SIGNAL_DRAIN_MAX));
        }
    }

    /// Signals and deadlines.
    fn look_around(&mut self) {
        let received = self.signals.received();
        if received > self.signals_seen {
            self.signals_seen = received;
            self.event("signal_received", format!("signal {received}"));
            if received == 1 && self.stage == Stage::Running {
                self.talk
                    .say("stopping: waiting for answers under way (at most 10 s; once more stops at once)");
                self.stop(Ending::Signal, self.plan.drain.min(SIGNAL_DRAIN_MAX));
            } else {
                self.ending = Ending::Signal;
                self.finish();
            }
        }
        let now = self.clock.now();
        match self.stage {
            Stage::Running => {
                let ends = self.plan.phases.iter().map(wavetank_plan::Phase::end);
                let last = ends.reduce(|last, end| Some(last?.max(end?))).flatten();
                if last.is_some_and(|last| last.after(self.plan.drain) <= now) {
                    self.event("drain_over", "the drain's bound was reached; what is unanswered stays open");
                    self.finish();
                }
            }
            Stage::Draining(until) if until <= now => self.finish(),
            Stage::Draining(_) | Stage::Finishing => {}
        }
    }

    /// End the load before its time: no more arrivals, then wait for answers at most `drain`.
    fn stop(&mut self, ending: Ending, drain: Nanos) {
        let now = self.clock.now();
        self.ending = ending;
        for index in 0..self.plan.phases.len() as u16 {
            self.phase_ended(index, now);
        }
        self.threads.tell(Command::Drain);
        self.stage = Stage::Draining(now.after(drain));
        if drain == Nanos::ZERO {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if self.stage != Stage::Finishing {
            self.stage = Stage::Finishing;
            self.threads.tell(Command::Finish(self.clock.now()));
        }
    }

    /// Number `phase` ended at `at`; the archive must know too, to count alike when it is read back.
    fn phase_ended(&mut self, phase: u16, at: Nanos) {
        let name = self.plan.phases[usize::from(phase)].name.clone();
        self.ledger.phase_ended(phase, at);
        let text = format!("phase {name} ended");
        self.tell(EventLine { at_ns: at.0, kind: PHASE_ENDED.to_owned(), text, phase: Some(phase) });
    }

    fn event(&mut self, kind: &str, text: impl Into<String>) {
        let at_ns = self.clock.now().0;
        self.tell(EventLine { at_ns, kind: kind.to_owned(), text: text.into(), phase: None });
    }

    fn tell(&mut self, event: EventLine) {
        let problem = self.archive.as_mut().and_then(|archive| archive.event(&event));
        self.events.push(event);
        self.store_problem(problem);
    }

    /// The disk refused: tell once, go on.
    fn store_problem(&mut self, problem: Option<StoreProblem>) {
        if let Some(problem) = problem {
            self.talk.warn(&format!("{problem}; the load goes on\nhint: {}", problem.hint()));
            self.events.push(problem.event(self.clock.now()));
        }
    }

    /// Keep the first failure of each class of all threads.
    fn sample(&mut self, sample: &Sample) {
        if self.sampled.contains(&sample.class) {
            return;
        }
        self.sampled.push(sample.class);
        let line = sample_line(&self.plan, sample);
        let problem = self.archive.as_mut().and_then(|archive| archive.sample(&line));
        self.store_problem(problem);
    }
}

fn sample_line(plan: &Plan, sample: &Sample) -> SampleLine {
    let scenario = &plan.scenarios[usize::from(sample.key.scenario)];
    let waited = Nanos(i64::try_from(sample.waited_ns).unwrap_or(i64::MAX));
    SampleLine {
        kind: "failed".to_owned(),
        class: sample.class.name().to_owned(),
        phase: plan.phases[usize::from(sample.key.phase)].name.clone(),
        step: scenario.steps[usize::from(sample.key.step)].name.clone(),
        intended_ns: (sample.at - waited).0,
        total_us: Number::micros(sample.waited_ns),
        status: sample.status,
        detail: sample.detail.clone().unwrap_or_default(),
        ..SampleLine::default()
    }
}
