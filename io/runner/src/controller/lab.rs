//! The lab that a run goes to: the run ends with it, and its events are learned of afterwards.

use wavetank_diagnose::RunEnd;
use wavetank_record::{EventKind, EventLine};
use wavetank_units::{Nanos, Sentence};

use super::RunController;
use super::load_result::LoadResult;

/// How often the lab is looked at.
const LOSS_EVERY: Nanos = Nanos::from_millis(250);

impl<'a> RunController<'a> {
    /// The same in a lab; `lab_check` returns what is missing of it.
    pub(crate) fn in_lab(mut self, lab_check: Option<&'a dyn Fn() -> Option<Sentence>>) -> Self {
        self.lab_check = lab_check;
        self
    }

    /// Ends the run if its lab is gone, or a part of it: nothing more can be learned.
    pub(super) fn check_lab(&mut self) {
        let now = self.now();
        let Some(lab_check) = self.lab_check.filter(|_| !self.ending_early && now >= self.lab_check_due)
        else {
            return;
        };
        self.lab_check_due = now.after(LOSS_EVERY);
        if let Some(text) = lab_check() {
            self.log.console.warn(&format!("{text}, which ends the run"));
            self.event(EventKind::LabLost, text);
            self.end(RunEnd::Finished, None);
        }
    }
}

impl LoadResult {
    /// Adds an event that was learned of after the load.
    pub(crate) fn record_event(&mut self, event: EventLine) {
        // A problem of the archive is reported when it is finished.
        drop(self.archive.as_mut().and_then(|archive| archive.event(&event)));
        self.events.push(event);
    }
}
