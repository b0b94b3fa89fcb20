//! The [`Ledger`] of an archive, from which a run that never finished is judged.
//!
//! Most of an archive consists of times for each second. Most plans need only their sum, and the
//! last checkpoint contains it. Seconds before that checkpoint are then read without their times,
//! which is several times faster and gives the same result.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use wavetank_measure::{Interval, Ledger, Totals};
use wavetank_plan::Plan;
use wavetank_record::{IntervalLine, OverflowGuard, TargetLine};
use wavetank_units::UserError;

use crate::contents::line_files;
use crate::file_access::open_file;
use crate::opened_run::{for_each_line, for_each_line_from};
use crate::read_ahead::{LITTLE_HANDED_ON, for_each_decoded};
use crate::replay_events::replay_events;
use crate::{ArchiveItem, OpenedRun, ReadReport};

/// Bytes at the end of a file that are searched for its last checkpoint: one minute of a run of
/// 1,000 steps.
const TAIL_BYTES_MAX: u64 = 64 << 20;
/// Bytes of a line that are searched for the checkpoint mark.
const WORD_AT_MAX: usize = 64;

impl OpenedRun {
    /// Adds up and judges all sealed data; a killed run is reported from this. Intervals that do
    /// not add up are noted in the ledger.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn ledger(&self, plan: &Plan) -> Result<(Ledger, ReadReport), UserError> {
        let quick = self.ledger_by_checkpoint(plan)?;
        let (mut ledger, mut report) = quick.map_or_else(|| self.ledger_by_second(plan), Ok)?;
        if report.missing > 0 {
            ledger.mark_incomplete();
        }
        // Samples of hosts and target have no checkpoints. They are added to the final ledger.
        report.damaged += self.read_hosts(|line| ledger.observe_host(&line.sample))?;
        report.damaged += self.read_others(|name, line| ledger.observe_other(name, &line.sample))?;
        for_each_line(&self.dir.join("truth.jsonl"), |line| match TargetLine::decode(line) {
            Ok(TargetLine(sample)) => ledger.observe_target(sample),
            Err(_) => report.damaged += 1,
        })?;
        Ok((ledger, report))
    }

    /// Builds the ledger from every second as it was sealed.
    fn ledger_by_second(&self, plan: &Plan) -> Result<(Ledger, ReadReport), UserError> {
        let mut ledger = self.empty_ledger(plan);
        let report = self.read_intervals(|sealed| {
            let line = match sealed {
                ArchiveItem::Next(line) => line,
                ArchiveItem::Instead(line) => {
                    ledger = self.empty_ledger(plan);
                    line
                }
            };
            let _ = ledger.add(&line.interval);
        })?;
        Ok((ledger, report))
    }

    /// Like [`Self::ledger_by_second`], but takes the times of all seconds before the last
    /// checkpoint from that checkpoint. Returns `None` if every line must be read: the plan needs
    /// the times of single seconds, or the archive is not a gapless one of a single agent.
    fn ledger_by_checkpoint(&self, plan: &Plan) -> Result<Option<(Ledger, ReadReport)>, UserError> {
        let mut ledger = self.empty_ledger(plan);
        if ledger.needs_times_per_second() {
            return Ok(None);
        }
        let paths = line_files(&self.dir.join("intervals"))?;
        let [path] = &paths[..] else { return Ok(None) };
        // Unreadable lines are counted by the full read that follows.
        let Some((until, checkpoint)) = last_checkpoint(path).ok().flatten() else { return Ok(None) };
        let sum = &checkpoint.interval;
        let (mut next, mut counted, mut report) = (0, OverflowGuard::default(), ReadReport::default());
        if !counted.admit(&sum.times()) {
            return Ok(None);
        }
        let mut add = |line: &IntervalLine, ledger: &mut Ledger| {
            let follows = !line.checkpoint && (line.epoch, line.seq) == (checkpoint.epoch, next);
            let fits = follows && counted.admit(&line.interval);
            if fits {
                (next, report.intervals) = (next + 1, report.intervals + 1);
                let _ = ledger.add(&line.interval);
            }
            fits
        };
        let mut whole = for_each_count(path, until, |line| add(line, &mut ledger));
        whole &= ledger.totals().intervals == checkpoint.seq + 1 && is_sum(sum, ledger.totals());
        if !whole {
            return Ok(None);
        }
        ledger.add_times(sum);
        let torn = for_each_line_from(path, until, |bytes| {
            whole = IntervalLine::decode(bytes).is_ok_and(|line| add(&line, &mut ledger));
            if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        report.torn = u64::from(torn);
        Ok(whole.then_some((ledger, report)))
    }

    fn empty_ledger(&self, plan: &Plan) -> Ledger {
        let mut ledger = Ledger::new(plan);
        replay_events(&self.events, &mut ledger);
        ledger
    }
}

/// Passes every interval before byte `until`, which is the end of a line, to `visit` in file order
/// and without its times. Stops as soon as `visit` returns `false`. Returns whether all of them
/// could be read and were accepted.
fn for_each_count(path: &Path, until: u64, mut visit: impl FnMut(&IntervalLine) -> bool) -> bool {
    let decode = |bytes: &[u8], _| {
        let line = (!is_checkpoint(bytes)).then(|| IntervalLine::decode_counts(bytes));
        line.transpose()
    };
    let mut whole = true;
    let torn = open_file(path).and_then(|file| {
        for_each_decoded(file.take(until), LITTLE_HANDED_ON, decode, |line| {
            whole = line.as_ref().is_ok_and(|line| line.as_ref().is_none_or(&mut visit));
            if whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    });
    whole && torn.is_ok_and(|torn| !torn)
}

/// Returns the last checkpoint in a file of intervals and the offset of the line after it. Returns
/// `None` if there is no checkpoint near the end, or if it cannot be read.
fn last_checkpoint(path: &Path) -> io::Result<Option<(u64, IntervalLine)>> {
    let mut file = open_file(path)?;
    let from = file.metadata()?.len().saturating_sub(TAIL_BYTES_MAX);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
    let newline_before = |end: usize| tail[..end].iter().rposition(|&byte| byte == b'\n');
    let mut end = newline_before(tail.len());
    while let Some(line_end) = end {
        end = newline_before(line_end);
        let line = &tail[end.map_or(0, |newline| newline + 1)..line_end];
        // The first line read may be the end of a longer line, which is then no valid line.
        if is_checkpoint(line) {
            let read = IntervalLine::decode(line).ok();
            return Ok(read.map(|read| (from + line_end as u64 + 1, read)));
        }
    }
    Ok(None)
}

/// Returns whether this line is a checkpoint, without decoding it.
fn is_checkpoint(line: &[u8]) -> bool {
    const WORD: &[u8] = b"\"checkpoint\":true";
    line[..line.len().min(WORD_AT_MAX)].windows(WORD.len()).any(|word| word == WORD)
}

/// Returns whether `sum` has the same counters as the intervals added up in `totals`.
fn is_sum(sum: &Interval, totals: &Totals) -> bool {
    let (theirs, own) = (sum.steps.iter(), totals.steps.iter());
    theirs.map(|step| (step.key, &step.counters)).eq(own.map(|step| (step.key, &step.counters)))
}
