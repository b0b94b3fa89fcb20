//! Reads the intervals of a fleet's agents one agent after the other.

use wavetank_record::{IntervalExtras, IntervalLine};
use wavetank_units::UserError;

use crate::OpenedRun;
use crate::contents::line_files;
use crate::opened_run::for_each_line;

impl OpenedRun {
    /// Passes the intervals of each agent to `visit`, with their counts and without their times.
    /// Lines that cannot be read are left out.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn read_agents(&self, mut visit: impl FnMut(&IntervalLine, IntervalExtras)) -> Result<(), UserError> {
        for path in line_files(&self.dir.join("intervals"))? {
            for_each_line(&path, |line| {
                let read = IntervalLine::decode_counts(line).ok().zip(IntervalExtras::decode(line).ok());
                if let Some((interval, extras)) = read {
                    visit(&interval, extras);
                }
            })?;
        }
        Ok(())
    }
}
