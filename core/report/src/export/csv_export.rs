//! [`CsvExport`]: a run over time as CSV.

use std::io::{self, Write};

use wavetank_measure::{Interval, PhaseSeries, SessionSeries, StepSeries, TargetSeries};
use wavetank_plan::{Load, Phase, Plan};
use wavetank_units::Nanos;

use super::csv_cells::{LoadPart, Planned, Row};
use super::csv_columns::{Column, columns};

/// Writes a run over time as CSV (RFC 4180, a header with units, lines end in CR LF). There is one
/// row for each interval, or one for each interval and step. The intervals are those of the
/// archive, a second or shorter. Warm-up has its own rows; the `measured` rows add up to the totals
/// of the run.
pub struct CsvExport<'a, W: Write> {
    plan: &'a Plan,
    by_step: bool,
    columns: Vec<Column>,
    writer: csv::Writer<W>,
}

impl<'a, W: Write> CsvExport<'a, W> {
    /// Writes the header.
    ///
    /// # Errors
    /// If `to` accepts no more data.
    pub fn new(plan: &'a Plan, by_step: bool, to: W) -> io::Result<Self> {
        let columns = columns(by_step);
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(to);
        writer.write_record(columns.iter().map(|column| &column.name)).map_err(into_io_error)?;
        Ok(Self { plan, by_step, columns, writer })
    }

    /// Write the interval of one agent.
    ///
    /// # Errors
    /// If there is no space left.
    pub fn add(&mut self, agent: &str, interval: &Interval) -> io::Result<()> {
        if self.by_step {
            return interval.steps.iter().try_for_each(|series| self.step(agent, interval, series));
        }
        let warm = interval.steps.iter().any(|series| self.is_warmup(series.key.phase));
        let measured = interval.steps.iter().any(|series| !self.is_warmup(series.key.phase));
        if warm {
            self.part(agent, interval, true, !measured)?;
        }
        if measured || !warm {
            self.part(agent, interval, false, true)?;
        }
        Ok(())
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// If there is no space left for the rest.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }

    fn is_warmup(&self, phase: u16) -> bool {
        self.plan.phases.get(usize::from(phase)).is_some_and(|phase| phase.warmup)
    }

    /// The row of the warm-up part of an interval, or of its other part.
    fn part(&mut self, agent: &str, interval: &Interval, warmup: bool, whole: bool) -> io::Result<()> {
        let plan = self.plan;
        let chosen = |phase: u16| self.is_warmup(phase) == warmup;
        let mut requests = StepSeries::default();
        for series in interval.steps.iter().filter(|series| chosen(series.key.phase)) {
            requests.merge(series);
            requests.open += series.open;
        }
        let mut times = PhaseSeries::default();
        interval.phases.iter().filter(|one| chosen(one.phase)).for_each(|one| times.merge(one));
        let mut opening = TargetSeries::default();
        interval.targets.iter().filter(|one| chosen(one.phase)).for_each(|one| opening.merge(one));
        let sessions = sessions(plan, interval, chosen);
        let planned = planned(plan, warmup, interval);
        let names = [""; 3];
        let nothing = interval.steps.is_empty() && interval.end() <= Nanos::ZERO;
        let part = match (warmup, nothing) {
            (true, _) => LoadPart::Warmup,
            (false, true) => LoadPart::Before,
            (false, false) => LoadPart::Measured,
        };
        self.write(&Row { agent, interval, part, names, requests, sessions, times, opening, planned, whole })
    }

    fn step(&mut self, agent: &str, interval: &Interval, series: &StepSeries) -> io::Result<()> {
        let scenario = self.plan.scenarios.get(usize::from(series.key.scenario));
        let step = scenario.and_then(|scenario| scenario.steps.get(usize::from(series.key.step)));
        let phase = self.plan.phases.get(usize::from(series.key.phase));
        self.write(&Row {
            agent,
            interval,
            part: if self.is_warmup(series.key.phase) { LoadPart::Warmup } else { LoadPart::Measured },
            names: [
                phase.map_or("", |phase| &phase.name),
                scenario.map_or("", |scenario| &scenario.name),
                step.map_or("", |step| &step.name),
            ],
            requests: series.clone(),
            sessions: SessionSeries::default(),
            times: PhaseSeries::default(),
            opening: TargetSeries::default(),
            planned: Planned::default(),
            whole: false,
        })
    }

    fn write(&mut self, row: &Row<'_>) -> io::Result<()> {
        for column in &self.columns {
            self.writer.write_field((column.cell)(row)).map_err(into_io_error)?;
        }
        self.writer.write_record(None::<&[u8]>).map_err(into_io_error)
    }
}

/// Returns the underlying error. Its kind shows whether the reader closed the pipe, which the
/// library's own conversion hides.
pub(super) fn into_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Returns the sessions of the chosen phases. Sessions of one plain request are counted from their
/// requests, as in the run's totals.
fn sessions(plan: &Plan, interval: &Interval, chosen: impl Fn(u16) -> bool) -> SessionSeries {
    let mut all = SessionSeries::default();
    for series in interval.journeys.sessions.iter().filter(|series| chosen(series.phase)) {
        all.merge(series);
        all.open += series.open;
    }
    for (scenario, it) in (0_u16..).zip(&plan.scenarios) {
        let counted = |series: &SessionSeries| series.scenario == scenario;
        if !it.is_one_request() || interval.journeys.sessions.iter().any(counted) {
            continue;
        }
        let own = interval.steps.iter().filter(|series| series.key.scenario == scenario);
        for series in own.filter(|series| chosen(series.key.phase)) {
            all.merge(&SessionSeries::from_requests(series));
            all.open += series.open;
        }
    }
    all
}

/// Returns the target values of the phases in `interval`. A phase that ends by a count may have
/// ended before.
fn planned(plan: &Plan, warmup: bool, interval: &Interval) -> Planned {
    let (from, until) = (interval.from, interval.end());
    let mut planned = Planned::default();
    for phase in plan.phases.iter().filter(|phase| phase.warmup == warmup) {
        match &phase.load {
            Load::Open { .. } | Load::Trace { .. } => {
                add(&mut planned.sessions, phase.sessions_between(from, until));
            }
            Load::Closed { .. } => add(&mut planned.users, wanted(phase, until)),
            Load::Hold { .. } => add(&mut planned.connections, wanted(phase, until)),
            Load::Pause => {}
        }
    }
    planned
}

/// Target number of users or connections just before `until`.
fn wanted(phase: &Phase, until: Nanos) -> Option<u64> {
    phase.users_at(until - Nanos(1))
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default() + more);
    }
}
