//! [`RunLog`]: what is written down of a run while it goes on.

use wavetank_diagnose::RunEnd;
use wavetank_measure::{ErrorClass, Ledger};
use wavetank_record::{ConnectionMemory, EventLine, Setup};
use wavetank_store::{ArchiveWriter, StoreProblem};
use wavetank_units::{Nanos, Sentence};

use crate::console::RunConsole;
use crate::sample::SampleStore;

/// Everything written down during the run.
pub(super) struct RunLog<'a> {
    pub(super) ledger: Ledger,
    pub(super) ending: RunEnd,
    pub(super) events: Vec<EventLine>,
    pub(super) archive: Option<ArchiveWriter>,
    pub(super) console: &'a mut dyn RunConsole,
    pub(super) logged: LogLineCount,
    pub(super) moves: AddressChanges,
    pub(super) samples: SampleStore,
    pub(super) lost: Vec<Sentence>,
    pub(super) accounting: Vec<Sentence>,
    pub(super) faults: Vec<(ErrorClass, Sentence)>,
    pub(super) memory: Option<ConnectionMemory>,
    /// Requests outside every counter that the load's time saw.
    pub(super) setup: Setup,
}

impl RunLog<'_> {
    pub(super) fn event(&mut self, event: EventLine, now: Nanos) {
        let problem = self.archive.as_mut().and_then(|archive| archive.event(&event));
        self.events.push(event);
        self.store_problem(problem, now);
    }

    /// Storing failed: reports it once and continues.
    pub(super) fn store_problem(&mut self, problem: Option<StoreProblem>, now: Nanos) {
        if let Some(problem) = problem {
            self.console.warn(&format!("{problem}; the load goes on\nhint: {}", problem.hint()));
            self.events.push(problem.event(now));
        }
    }
}

/// How many lines journeys have logged.
#[derive(Default)]
pub(super) struct LogLineCount {
    pub(super) kept: u64,
    pub(super) untold: u64,
}

/// How many changes of addresses there were.
#[derive(Default)]
pub(super) struct AddressChanges {
    pub(super) kept: u64,
    pub(super) untold: u64,
}
