//! Data of an archive over time: the run's time series, and samples of hosts and target.

use wavetank_measure::{Downsampled, HostSample, TargetSample, TimeSeries, TimeSeriesBuilder};
use wavetank_plan::Plan;
use wavetank_record::{EventKind, TargetLine};
use wavetank_units::{Nanos, UserError};

use crate::contents::line_files;
use crate::interval_span::interval_span;
use crate::opened_run::for_each_line;
use crate::{ArchiveItem, OpenedRun, ReadReport};

/// The samples of one host over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostSeries {
    /// Name of the host; `local` is the one that generated the load.
    pub name: String,
    /// In order; thinned evenly to [`Downsampled::KEPT_MAX`] where there are more.
    pub samples: Vec<HostSample>,
    /// Lines that could not be read.
    pub damaged: u64,
}

impl OpenedRun {
    /// Returns the run over time, in at most `columns_max` columns ([`TimeSeriesBuilder::new`]),
    /// and the result of reading the intervals. The series has gaps where intervals are missing or
    /// damaged.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn time_series(
        &self,
        plan: &Plan,
        columns_max: usize,
    ) -> Result<(TimeSeries, ReadReport), UserError> {
        let span = line_files(&self.dir.join("intervals"))?
            .iter()
            .filter_map(|path| interval_span(path))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let empty = || {
            let mut maker = TimeSeriesBuilder::new(plan, columns_max);
            if let Some((from, until)) = span {
                maker = maker.spanning(from, until);
            }
            for event in self.events.iter().filter(|event| event.kind == EventKind::PhaseEnded) {
                if let Some(phase) = event.phase {
                    maker.phase_ended(phase, Nanos(event.at_ns));
                }
            }
            maker
        };
        let mut all = empty();
        let report = self.read_intervals(|sealed| match sealed {
            ArchiveItem::Next(line) => all.add(&line.interval),
            ArchiveItem::Instead(line) => all.checkpoint(&line.interval),
        })?;
        Ok((all.finish(), report))
    }

    /// Returns the samples of each observed host, by name. The result is empty if no host was
    /// observed.
    ///
    /// # Errors
    /// A usage error if the files cannot be read at all.
    pub fn hosts(&self) -> Result<Vec<HostSeries>, UserError> {
        let mut hosts = Vec::new();
        for file in self.host_files()? {
            let mut samples = Downsampled::default();
            let damaged = file.read(|line| samples.push(line.sample))?;
            let samples = samples.into_inner();
            if !samples.is_empty() || damaged > 0 {
                hosts.push(HostSeries { name: file.name, samples, damaged });
            }
        }
        Ok(hosts)
    }

    /// The target's own count of connections, in order, thinned evenly to
    /// [`Downsampled::KEPT_MAX`]. It is empty if the target was not queried. Lines that cannot be
    /// read are left out.
    ///
    /// # Errors
    /// A usage error if the file cannot be read at all.
    pub fn truth(&self) -> Result<Vec<TargetSample>, UserError> {
        let mut samples = Downsampled::default();
        for_each_line(&self.dir.join("truth.jsonl"), |line| {
            if let Ok(TargetLine(sample)) = TargetLine::decode(line) {
                samples.push(sample);
            }
        })?;
        Ok(samples.into_inner())
    }
}
