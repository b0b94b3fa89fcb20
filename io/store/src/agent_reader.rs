//! [`AgentReader`]: which lines of one agent are new, and which are missing.

use wavetank_record::{DecodeError, IntervalLine};

use crate::read_report::{ArchiveItem, ReadReport};

/// Follows the numbers of one agent's intervals.
#[derive(Default)]
pub(crate) struct AgentReader {
    /// Epoch and number of the last interval known, in an interval or a checkpoint.
    last: Option<(u64, u64)>,
    /// Intervals missing since the last checkpoint that covered everything.
    missing_here: u64,
    pub(crate) report: ReadReport,
}

impl AgentReader {
    /// Passes the line to `visit`, unless it contains nothing new. `visit` returns whether it
    /// accepted the line.
    pub(crate) fn take(&mut self, line: &IntervalLine, visit: &mut impl FnMut(ArchiveItem<'_>) -> bool) {
        let next = match self.last {
            Some((epoch, seq)) if epoch == line.epoch => seq + 1,
            _ => 0,
        };
        let older = self.last.is_some_and(|(epoch, _)| line.epoch < epoch) || line.seq < next;
        if line.checkpoint {
            let lost_before = self.missing_here > 0 || line.seq >= next;
            if lost_before && self.last.is_none_or(|(epoch, _)| line.epoch >= epoch) {
                self.report.missing -= self.missing_here;
                self.missing_here = 0;
                self.last = Some((line.epoch, line.seq));
                self.report.damaged += u64::from(!visit(ArchiveItem::Instead(line)));
            }
        } else if !older {
            // Each new epoch may claim that everything before was lost.
            self.missing_here = self.missing_here.saturating_add(line.seq - next);
            self.report.missing = self.report.missing.saturating_add(line.seq - next);
            self.last = Some((line.epoch, line.seq));
            let taken = visit(ArchiveItem::Next(line));
            self.report.intervals += u64::from(taken);
            self.report.damaged += u64::from(!taken);
        }
    }

    /// The agent sealed that many intervals: those after the last known one are missing.
    pub(crate) const fn expect(&mut self, intervals: u64) {
        let next = match self.last {
            Some((_, seq)) => seq + 1,
            None => 0,
        };
        self.report.missing = self.report.missing.saturating_add(intervals.saturating_sub(next));
    }

    /// Counts a line that could not be decoded.
    pub(crate) fn refuse(&mut self, error: &DecodeError) {
        self.report.damaged += 1;
        self.report.newer += u64::from(error.is_newer());
    }
}
