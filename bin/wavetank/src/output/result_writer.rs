//! [`ResultWriter`]: a run that is over, and how each format is made of it.

use std::io::{self, Write};
use std::ops::ControlFlow;

use wavetank_measure::{Histogram, Interval};
use wavetank_plan::Plan;
use wavetank_record::{CompareDoc, RunRecord};
use wavetank_report::{CsvExport, IntervalLog, Language, LatencySeries, StepSelector, percentile_text};
use wavetank_store::{ArchiveGaps, OpenedRun, ReadReport, answered};
use wavetank_units::{Code, UserError};

use super::gap_warning::warn_of_gaps;
use super::host_rows::host_rows;
use super::html_page::html_page;
use super::write_error::WriteError;
use crate::cli::{OutputFormat, ReportOptions};

/// A run that is over.
pub(crate) struct ResultWriter<'a> {
    record: &'a RunRecord,
    opened: Option<&'a OpenedRun>,
    /// Its archive, where something needs its intervals.
    archive: Option<Archive<'a>>,
    by_step: bool,
    by_host: bool,
    of: LatencySeries,
    language: Language,
    /// What the run was compared with as soon as it was over.
    comparison: Option<&'a CompareDoc>,
}

struct Archive<'a> {
    opened: &'a OpenedRun,
    plan: Plan,
    step: Option<StepSelector>,
}

impl<'a> ResultWriter<'a> {
    /// `formats`: all that will be asked of it. `opened`: its archive; `None` if it kept none.
    ///
    /// # Errors
    /// If one of the formats cannot be made of it, found out before anything is written.
    pub(crate) fn new(
        record: &'a RunRecord,
        opened: Option<&'a OpenedRun>,
        wants: &ReportOptions,
        mut formats: impl Iterator<Item = OutputFormat>,
    ) -> Result<Self, UserError> {
        let mut outcome = Self {
            record,
            opened,
            archive: None,
            by_step: wants.by_step,
            by_host: wants.by_host,
            of: wants.times.unwrap_or_default(),
            language: wants.language.unwrap_or_default(),
            comparison: None,
        };
        if let Some(opened) = opened
            && formats.any(OutputFormat::needs_intervals)
        {
            let plan = opened.plan()?;
            let step = wants.step.as_deref().map(|word| StepSelector::find(&plan, word)).transpose()?;
            outcome.archive = Some(Archive { opened, plan, step });
        }
        Ok(outcome)
    }

    /// The same with a comparison in every format that has a place for one.
    #[cfg(target_os = "linux")]
    pub(crate) fn with_comparison(self, comparison: Option<&'a CompareDoc>) -> Self {
        Self { comparison, ..self }
    }

    /// Write it to `to` in `format`.
    pub(crate) fn write(&self, format: OutputFormat, to: &mut dyn Write) -> Result<(), WriteError> {
        if let Some(text) = self.comparison.and_then(|comparison| compared(self.record, comparison, format)) {
            return Ok(to.write_all(text.as_bytes())?);
        }
        let text = match format {
            OutputFormat::Text => wavetank_report::text(self.record),
            OutputFormat::Oneline => wavetank_report::oneline(self.record),
            OutputFormat::Json => wavetank_report::json(self.record),
            OutputFormat::Junit => wavetank_report::junit(self.record),
            OutputFormat::Markdown => wavetank_report::markdown(self.record),
            OutputFormat::Csv => return self.csv(to),
            OutputFormat::Hlog => return self.hlog(to),
            OutputFormat::Hgrm => self.hgrm()?,
            OutputFormat::Html => html_page(self.record, self.opened, self.language),
        };
        Ok(to.write_all(text.as_bytes())?)
    }

    fn csv(&self, to: &mut dyn Write) -> Result<(), WriteError> {
        let archive = self.archive()?;
        if self.by_host {
            return host_rows(archive.opened, to);
        }
        let mut csv = CsvExport::new(&archive.plan, self.by_step, to)?;
        self.each(archive, |agent, interval| csv.add(agent, interval))?;
        Ok(csv.finish()?)
    }

    fn hlog(&self, to: &mut dyn Write) -> Result<(), WriteError> {
        let archive = self.archive()?;
        let mut log =
            IntervalLog::new(self.record, &archive.plan, (self.of, archive.step), self.by_step, to)?;
        self.each(archive, |_, interval| log.add(interval))?;
        Ok(log.finish()?)
    }

    fn hgrm(&self) -> Result<String, WriteError> {
        let archive = self.archive()?;
        let mut times = Histogram::default();
        self.each(archive, |_, interval| {
            self.of.add(&archive.plan, archive.step.as_ref(), interval, &mut times);
            Ok(())
        })?;
        Ok(percentile_text(&times))
    }

    fn archive(&self) -> Result<&Archive<'a>, WriteError> {
        self.archive.as_ref().ok_or_else(|| {
            WriteError::Unmade(UserError::usage(
                Code::NoArchive,
                "the run kept no archive, and this format is made of its intervals",
                "see the reason above; .txt, .json, .xml, .html and .md do not need it",
            ))
        })
    }

    /// Passes every interval of the archive to `write`, one after the other, until there is no more
    /// room.
    fn each(
        &self,
        archive: &Archive<'_>,
        mut write: impl FnMut(&str, &Interval) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        let (mut full, mut in_intervals) = (None, 0);
        let read = archive.opened.read_windows(|agent, interval| {
            in_intervals += answered(&archive.plan, interval);
            match write(agent, interval) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    full = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        let read = read.map_err(WriteError::Unmade)?;
        match full {
            Some(error) => Err(WriteError::Io(error)),
            None => self.complete(archive, read, in_intervals),
        }
    }

    /// Reports what could not be read. If nothing could be read, that is an error.
    fn complete(&self, archive: &Archive<'_>, read: ReadReport, in_intervals: u64) -> Result<(), WriteError> {
        let dir = format!("{}/intervals", archive.opened.display_path());
        if read.intervals == 0 && self.record.requests.offered > 0 {
            let message = format!("no interval of the run can be read in `{dir}`");
            let hint = "use .txt, .json, .xml or .md, which need only run.json";
            return Err(WriteError::Unmade(UserError::usage(Code::ArchiveDamaged, message, hint)));
        }
        warn_of_gaps(&ArchiveGaps { dir, read, in_intervals }, self.record);
        Ok(())
    }
}

/// Returns the run with its comparison: one object in JSON, a separate suite in `JUnit`, below the
/// run otherwise. `None` for formats of a single run.
fn compared(record: &RunRecord, comparison: &CompareDoc, format: OutputFormat) -> Option<String> {
    let below = |run: String, comparison: String| Some(format!("{run}\n{comparison}"));
    match format {
        OutputFormat::Text => {
            below(wavetank_report::text(record), wavetank_report::comparison_text(comparison))
        }
        OutputFormat::Markdown => {
            below(wavetank_report::markdown(record), wavetank_report::comparison_markdown(comparison))
        }
        OutputFormat::Json => Some(wavetank_report::json_with_comparison(record, comparison)),
        OutputFormat::Junit => Some(wavetank_report::junit_with_comparison(record, comparison)),
        OutputFormat::Oneline
        | OutputFormat::Csv
        | OutputFormat::Hgrm
        | OutputFormat::Hlog
        | OutputFormat::Html => None,
    }
}
