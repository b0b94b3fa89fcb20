//! Adds events to the run log, and runs those of the plan: each at its time, and reverted however
//! the run ends.

use wavetank_record::{EventKind, EventLine};
use wavetank_units::{Nanos, Sentence, sentence};

use super::{POLL_WAIT, RunController};
use crate::event_runner::{EventRunner, EventUpdate};

/// How long the end of a run waits for its events to be reverted. After that the lab reverts them
/// once this process is gone.
const TAKING_BACK_MAX: Nanos = Nanos::from_secs(15);

impl RunController<'_> {
    /// Records that phase number `phase` ended at `at`. The archive stores it too, so that reading
    /// it back gives the same counts.
    pub(super) fn phase_ended(&mut self, phase: u16, at: Nanos) {
        let text = sentence!("phase {} ended", self.plan.phases[usize::from(phase)].name);
        self.log.ledger.phase_ended(phase, at);
        let event = EventLine { phase: Some(phase), ..EventLine::new(at, EventKind::PhaseEnded, text) };
        self.log.event(event, at);
    }

    /// Records that something happened now.
    pub(super) fn event(&mut self, kind: EventKind, text: Sentence) {
        let now = self.clock.now();
        self.log.event(EventLine::new(now, kind, text), now);
    }

    /// The same, with what the plan's events do to hosts.
    pub(crate) fn with_events(mut self, event_runner: Option<EventRunner>) -> Self {
        self.event_runner = event_runner;
        self
    }

    /// What is due is done, and what was done is written down.
    pub(super) fn run_due_events(&mut self) {
        // Before the start is agreed on, no clock shows what is due.
        if self.zero == Nanos::ZERO {
            return;
        }
        let now = self.clock.now();
        let Some(event_runner) = &mut self.event_runner else { return };
        if self.ending_early {
            event_runner.end();
        }
        let news = event_runner.turn(now);
        self.report_event_updates(news, now);
    }

    /// The load is over: every event is reverted.
    pub(super) fn revert_events(&mut self) {
        let Some(mut event_runner) = self.event_runner.take() else { return };
        event_runner.end();
        let begun = self.clock.now();
        let mut news = event_runner.turn(begun);
        loop {
            let now = self.clock.now();
            self.report_event_updates(std::mem::take(&mut news), now);
            let hurried = self.signals.received() > 1;
            if event_runner.is_over() || hurried || now > begun.after(TAKING_BACK_MAX) {
                return;
            }
            news = event_runner.wait(POLL_WAIT, now);
        }
    }

    fn report_event_updates(&mut self, news: Vec<EventUpdate>, now: Nanos) {
        for one in news {
            let (event, at, kind, text) = match one {
                EventUpdate::Begun { event, at } => {
                    self.log.ledger.event_began(event, at);
                    continue;
                }
                EventUpdate::Done { event, at } => {
                    let (host, run) = self.action(event);
                    (event, at, EventKind::EventDone, sentence!("{host}: {run}"))
                }
                EventUpdate::Failed { event, at, why } => {
                    self.log.ledger.event_failed(event);
                    let (host, run) = self.action(event);
                    let text = sentence!("{host}: {run} could not be done: {}", why.message);
                    self.log.console.warn(&format!("{text}\nhint: {}", why.hint));
                    (event, at, EventKind::EventFailed, text)
                }
                EventUpdate::Undone { event, at } => {
                    self.log.ledger.event_ended(event, at);
                    let (host, run) = self.action(event);
                    (event, at, EventKind::EventUndone, sentence!("{host}: {run} reverted"))
                }
                EventUpdate::Stuck { event, at, why } => {
                    let (host, run) = self.action(event);
                    let text = sentence!("{host}: {run} could not be reverted: {}", why.message);
                    self.log.console.warn(&format!("{text}\nhint: {}", why.hint));
                    (event, at, EventKind::EventStuck, text)
                }
            };
            if kind == EventKind::EventDone || kind == EventKind::EventUndone {
                self.log.console.info(&format!("event      {text}"));
            }
            self.log.event(EventLine { event: Some(event), ..EventLine::new(at, kind, text) }, now);
        }
    }

    /// The host and what is done to it: `app1`, `kill nginx`.
    fn action(&self, event: u16) -> (&str, &str) {
        let planned = &self.plan.events[usize::from(event)];
        (&planned.host, &planned.run)
    }
}
