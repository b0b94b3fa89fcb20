//! What journeys want of the whole run: that it ends, and that a line is written down.

use wavetank_diagnose::RunEnd;
use wavetank_engine::{EndOfRun, LogLine};
use wavetank_plan::constants::SIGNAL_DRAIN_MAX;
use wavetank_record::{EventKind, EventLine};
use wavetank_units::{Sentence, phrase, sentence};

use super::RunController;

/// Lines kept as events of a run at most.
const KEPT_MAX: u64 = 1_000;
/// Of them, those that are said while the run goes on.
const SAID_MAX: u64 = 20;

impl RunController<'_> {
    /// A journey wants the run to end; the first one is heard.
    pub(super) fn on_end_run_requested(&mut self, wish: EndOfRun) {
        if self.ending_early {
            return;
        }
        let scenario = &self.plan.scenarios[usize::from(wish.scenario)];
        let name = scenario.name.clone();
        match wish.failed.map(|step| scenario.steps[usize::from(step)].name.clone()) {
            None => {
                let text = if name.is_empty() {
                    phrase!("a session reached `end: run`")
                } else {
                    sentence!("a session of {name} reached `end: run`")
                };
                self.event(EventKind::RunEnded, text);
                self.end(RunEnd::Finished, Some(self.plan.drain));
            }
            Some(step) => {
                let text = if name.is_empty() {
                    sentence!("{step} failed, which ends the run (`on_failure: end_run`)")
                } else {
                    sentence!("{step} of {name} failed, which ends the run (`on_failure: end_run`)")
                };
                self.event(EventKind::RunEnded, text);
                let ending = RunEnd::StepFailed { step, scenario: name };
                self.end(ending, Some(self.plan.drain.min(SIGNAL_DRAIN_MAX)));
            }
        }
    }

    /// Records lines that journeys logged; `untold` is the number of further lines that were
    /// dropped.
    pub(super) fn log(&mut self, lines: Vec<LogLine>, untold: u64) {
        self.log.logged.untold += untold;
        let now = self.clock.now();
        for LogLine { key, at, text } in lines {
            if self.log.logged.kept >= KEPT_MAX {
                self.log.logged.untold += 1;
                continue;
            }
            self.log.logged.kept += 1;
            if self.log.logged.kept <= SAID_MAX {
                self.log.console.info(&format!("log        {text}"));
                if self.log.logged.kept == SAID_MAX {
                    self.log.console.info("log        (later lines are in the archive's events)");
                }
            }
            let event = EventLine {
                phase: Some(key.phase),
                ..EventLine::new(at, EventKind::Log, Sentence::quoted(text))
            };
            self.log.event(event, now);
        }
    }

    /// The run is over: reports how many lines were dropped.
    pub(super) fn end_log(&mut self) {
        let untold = self.log.logged.untold;
        if untold > 0 {
            self.event(EventKind::LogUntold, sentence!("{untold} more lines were logged and not stored"));
        }
    }
}
